-- sql/setup/remember_schema.sql

CREATE FUNCTION zbxhist_internal.remember_schema(schema_name name, options zbxhist.managed_schema)
RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    INSERT INTO zbxhist.managed_schema
    VALUES (schema_name, options.history_retention, options.trends_retention, options.premake,
            options.pack_after, options.move_existing, '{}', options.history_interval, options.ingest)
    ON CONFLICT ON CONSTRAINT managed_schema_pkey DO UPDATE
       SET history_retention = excluded.history_retention,
           trends_retention = excluded.trends_retention,
           premake = excluded.premake, pack_after = excluded.pack_after,
           move_existing = excluded.move_existing, excluded = excluded.excluded,
           history_interval = excluded.history_interval, ingest = excluded.ingest
$$;

COMMENT ON FUNCTION zbxhist_internal.remember_schema(name, zbxhist.managed_schema) IS
'Writes down the options of setup for tables that appear in the schema later (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.remember_schema(name, zbxhist.managed_schema) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.remember_schema(name, zbxhist.managed_schema) TO pg_database_owner;
