-- sql/migrate/verify_hypertable.sql

CREATE FUNCTION zbxhist_internal.verify_hypertable(parent regclass)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    schema CONSTANT regnamespace := (SELECT k.relnamespace FROM pg_class k WHERE k.oid = parent);
    former CONSTANT name := zbxhist_internal.former_name(parent);
    others CONSTANT regclass := (SELECT k.oid FROM pg_class k WHERE k.relnamespace = schema AND k.relname = former);
BEGIN
    IF parent IS NULL THEN
        RAISE EXCEPTION 'table must not be null'
            USING ERRCODE = 'null_value_not_allowed';
    END IF;
    IF parent NOT IN (SELECT zbxhist_internal.hypertables()) THEN
        RAISE EXCEPTION 'table % is not a hypertable of TimescaleDB', parent
            USING ERRCODE = 'wrong_object_type',
                  HINT = CASE WHEN others IN (SELECT zbxhist_internal.hypertables())
                              THEN format('CALL zbxhist.import(%L, %L);', others, parent)
                              WHEN EXISTS (SELECT FROM zbxhist.parent_config c WHERE c.parent = verify_hypertable.parent)
                              THEN 'SELECT * FROM zbxhist.status;'
                              ELSE format('SELECT zbxhist.create_parent(%L);', parent) END;
    END IF;
    PERFORM zbxhist_internal.require_owner(parent);
    PERFORM zbxhist_internal.verify_replaceable(parent);
    IF others IS NOT NULL THEN
        RAISE EXCEPTION 'cannot rename table % to %: that is there already', parent, others
            USING ERRCODE = 'duplicate_table',
                  HINT = format('ALTER TABLE %s RENAME TO %I;', others, zbxhist_internal.free_name(schema, former));
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.verify_hypertable(regclass) IS
'Raises an error unless a plain table can take the place of a hypertable (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.verify_hypertable(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.verify_hypertable(regclass) TO PUBLIC;
