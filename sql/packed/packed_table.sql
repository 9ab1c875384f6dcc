-- sql/packed/packed_table.sql

-- Returns the packed table of a managed table: the foreign table that stands for its packed days; NULL if
-- there is none.
CREATE FUNCTION zbxhist_internal.packed_table(parent regclass) RETURNS regclass
LANGUAGE c STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zbxhist_packed_table';

-- Whether all transactions can see the packed table.
-- A statement that was planned before it was created would miss a day that is packed while it runs.
CREATE FUNCTION zbxhist_internal.packed_table_settled(parent regclass, packed regclass) RETURNS boolean
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    present CONSTANT text[] := zbxhist_internal.running_transactions();
    state   zbxhist.parent_state;
BEGIN
    INSERT INTO zbxhist.parent_state (parent) VALUES (parent) ON CONFLICT DO NOTHING;
    SELECT * INTO STRICT state FROM zbxhist.parent_state s
     WHERE s.parent = packed_table_settled.parent;
    IF state.packed_table IS DISTINCT FROM packed THEN
        UPDATE zbxhist.parent_state s SET packed_table = packed, packed_settling = present
         WHERE s.parent = packed_table_settled.parent;
        RETURN cardinality(present) = 0;
    END IF;
    RETURN NOT state.packed_settling && present;
END
$$;

-- Makes a packed day's table depend on the packed table, so that CASCADE drops both.
CREATE FUNCTION zbxhist_internal.attach_day(day regclass, packed regclass) RETURNS void
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'zbxhist_attach_day';

-- Creates the packed table of a managed table, with locks as in create_range: no INSERT waits for it.
CREATE FUNCTION zbxhist_internal.create_packed_table(parent regclass) RETURNS regclass
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET client_min_messages = warning
SET lock_timeout = 0 AS $$
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
        PERFORM zbxhist_internal.refuse('55P03', format('could not lock table %s within %s ms', parent, zbxhist_internal.patient_lock_timeout()),
            detail => 'VACUUM, ANALYZE or CREATE INDEX is running on it.  Repeat the call when that has ended.',
            hint => zbxhist_internal.long_transactions());
    END;
    -- also by pg_inherits: the schema may have been renamed meanwhile
    SELECT k.oid INTO STRICT result
      FROM pg_class k JOIN pg_inherits i ON i.inhrelid = k.oid
     WHERE k.relnamespace = source.relnamespace AND k.relname = new_name
       AND i.inhparent = create_packed_table.parent;
    PERFORM zbxhist_internal.own_alone(result, source.relowner);
    PERFORM zbxhist_internal.invalidate(parent);
    RETURN result;
END
$$;
