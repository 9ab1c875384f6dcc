-- sql/setup/merged_options.sql

CREATE FUNCTION zbxhist_internal.merged_options(
    schema_name name,
    given zbxhist.managed_schema,
    never_pack boolean)
RETURNS zbxhist.managed_schema
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    kept   zbxhist.managed_schema;
    former interval;
BEGIN
    SELECT * INTO kept FROM zbxhist.managed_schema m
     WHERE m.schema_name = merged_options.schema_name;
    IF NOT FOUND THEN
        kept := ROW(schema_name, NULL, NULL, 3, '1 hour', false, '{}', '1 hour', 'heap');
    END IF;
    former := kept.history_interval;
    kept.history_interval := coalesce(given.history_interval, kept.history_interval);
    kept.history_retention := coalesce(given.history_retention, kept.history_retention);
    kept.trends_retention := coalesce(given.trends_retention, kept.trends_retention);
    kept.premake := coalesce(given.premake, kept.premake);
    kept.pack_after := CASE WHEN never_pack THEN NULL
                            WHEN given.pack_after IS NOT NULL THEN given.pack_after
                            WHEN kept.pack_after = zbxhist_internal.default_pack_after(former)
                            THEN zbxhist_internal.default_pack_after(kept.history_interval)
                            ELSE kept.pack_after END;
    kept.ingest := coalesce(given.ingest, kept.ingest);
    kept.move_existing := coalesce(given.move_existing, kept.move_existing);
    kept.excluded := '{}';
    RETURN kept;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.merged_options(name, zbxhist.managed_schema, boolean) IS
'The options of setup for new tables of a schema: those given now, else those given before, else the defaults (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.merged_options(name, zbxhist.managed_schema, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.merged_options(name, zbxhist.managed_schema, boolean) TO PUBLIC;
