-- sql/setup/verify_not_in_other_care.sql
--
-- The catalogs of TimescaleDB and pg_partman are looked at only if they are
-- there, so nothing here depends on them.

CREATE FUNCTION zbxhist_internal.verify_not_in_other_care(parent regclass)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    table_schema name;
    table_name   name;
    catalog      text;
    taken        boolean;
BEGIN
    SELECT n.nspname, k.relname INTO table_schema, table_name
      FROM pg_class k JOIN pg_namespace n ON n.oid = k.relnamespace
     WHERE k.oid = parent;
    IF to_regclass('_timescaledb_catalog.hypertable') IS NOT NULL
       AND has_table_privilege('_timescaledb_catalog.hypertable', 'SELECT') THEN
        EXECUTE 'SELECT EXISTS (SELECT FROM _timescaledb_catalog.hypertable h'
                ' WHERE h.schema_name = $1 AND h.table_name = $2)'
            INTO taken USING table_schema, table_name;
        IF taken THEN
            RAISE EXCEPTION 'cannot manage %: it is a TimescaleDB hypertable', parent
                USING ERRCODE = 'wrong_object_type',
                      HINT = 'Create a plain table like it, copy the rows, rename the two, and call this again.';
        END IF;
    END IF;
    SELECT e.extnamespace::regnamespace || '.part_config' INTO catalog
      FROM pg_extension e WHERE e.extname = 'pg_partman';
    IF to_regclass(catalog) IS NOT NULL AND has_table_privilege(catalog, 'SELECT') THEN
        EXECUTE format('SELECT EXISTS (SELECT FROM %s c WHERE c.parent_table = $1)', catalog)
            INTO taken USING table_schema || '.' || table_name;
        IF taken THEN
            RAISE EXCEPTION 'cannot manage %: it is in the care of pg_partman', parent
                USING ERRCODE = 'object_not_in_prerequisite_state',
                      HINT = format('Take it out first: SELECT %s.undo_partition(...), or DELETE FROM %s WHERE parent_table = %L;',
                                    split_part(catalog, '.part_config', 1), catalog,
                                    table_schema || '.' || table_name);
        END IF;
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.verify_not_in_other_care(regclass) IS
'Raises an error if TimescaleDB or pg_partman looks after the table (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.verify_not_in_other_care(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.verify_not_in_other_care(regclass) TO PUBLIC;
