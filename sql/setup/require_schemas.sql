-- sql/setup/require_schemas.sql

CREATE FUNCTION zbxhist_internal.require_schemas(asked name, schemas name[])
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF cardinality(schemas) > 0 THEN
        RETURN;
    END IF;
    IF asked IS NULL THEN
        RAISE EXCEPTION 'found no Zabbix history table in this database'
            USING ERRCODE = 'undefined_table',
                  HINT = 'Connect to the database of Zabbix, or give setup the name of its schema.';
    ELSIF NOT EXISTS (SELECT FROM pg_namespace n WHERE n.nspname = asked) THEN
        RAISE EXCEPTION 'schema "%" does not exist', asked
            USING ERRCODE = 'invalid_schema_name';
    ELSE
        RAISE EXCEPTION 'found no Zabbix history table in schema "%"', asked
            USING ERRCODE = 'undefined_table';
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.require_schemas(name, name[]) IS
'Raises an error if setup found nothing (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.require_schemas(name, name[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.require_schemas(name, name[]) TO PUBLIC;
