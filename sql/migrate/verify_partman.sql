-- sql/migrate/verify_partman.sql

CREATE FUNCTION zbxhist_internal.verify_partman()
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    config CONSTANT regclass := zbxhist_internal.extension_table('pg_partman', 'part_config');
    schema CONSTANT regnamespace := (SELECT k.relnamespace FROM pg_class k WHERE k.oid = config);
BEGIN
    IF NOT has_schema_privilege(schema, 'USAGE') THEN
        RAISE EXCEPTION 'permission denied for schema % of pg_partman', schema
            USING ERRCODE = 'insufficient_privilege',
                  HINT = format('GRANT USAGE ON SCHEMA %s TO %I;', schema, current_user);
    END IF;
    IF NOT (has_table_privilege(config, 'SELECT') AND has_table_privilege(config, 'DELETE')) THEN
        RAISE EXCEPTION 'permission denied for table % of pg_partman', config
            USING ERRCODE = 'insufficient_privilege',
                  HINT = format('GRANT SELECT, DELETE ON %s TO %I;', config, current_user);
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.verify_partman() IS
'Raises an error if pg_partman is there and the caller could not take a table out of its care (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.verify_partman() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.verify_partman() TO PUBLIC;
