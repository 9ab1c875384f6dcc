-- sql/packed/create_packed_table.sql
--
-- As for a partition no INSERT waits for this, and what the parent is locked by
-- is waited for in the same way, see create_range.

CREATE FUNCTION zbxhist_internal.create_packed_table(parent regclass)
RETURNS regclass
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET client_min_messages = warning
SET lock_timeout = 0
AS $$
DECLARE
    source   CONSTANT pg_class := (SELECT k FROM pg_class k WHERE k.oid = parent);
    new_name CONSTANT name := zbxhist_internal.free_name(source.relnamespace, source.relname, '_packed');
    result   regclass;
BEGIN
    PERFORM set_config('lock_timeout', zbxhist_internal.patient_lock_timeout()::text, true);
    BEGIN
        EXECUTE format('CREATE FOREIGN TABLE %s.%I () INHERITS (%s) SERVER zbxhist',
                       source.relnamespace::regnamespace, new_name, parent);
    EXCEPTION WHEN lock_not_available THEN
        RAISE EXCEPTION 'could not lock table % within % ms', parent, zbxhist_internal.patient_lock_timeout()
            USING ERRCODE = 'lock_not_available',
                  DETAIL = 'VACUUM, ANALYZE, or the building of an index is at work on it.  Repeat the call when that has ended.',
                  HINT = zbxhist_internal.long_transactions();
    END;
    -- not by its name alone: the schema may have been renamed meanwhile
    SELECT k.oid INTO STRICT result
      FROM pg_class k JOIN pg_inherits i ON i.inhrelid = k.oid
     WHERE k.relnamespace = source.relnamespace AND k.relname = new_name
       AND i.inhparent = create_packed_table.parent;
    PERFORM zbxhist_internal.own_alone(result, source.relowner);
    PERFORM zbxhist_internal.clone_triggers(parent, result);
    PERFORM zbxhist_internal.invalidate(parent);
    RETURN result;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.create_packed_table(regclass) IS
'Creates the foreign table that stands for a managed table''s packed days (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.create_packed_table(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.create_packed_table(regclass) TO pg_database_owner;
