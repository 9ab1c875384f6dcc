-- sql/setup/setup_command.sql

CREATE FUNCTION zbxhist_internal.setup_command(
    given zbxhist.managed_schema,
    never_pack boolean,
    configure_zabbix boolean)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET intervalstyle = postgres
AS $$
    SELECT format('SELECT * FROM zbxhist.setup(%s);', concat_ws(', ',
        quote_literal(given.schema_name),
        'history_retention => ' || quote_literal(given.history_retention),
        'trends_retention => ' || quote_literal(given.trends_retention),
        'premake => ' || given.premake,
        'pack_after => ' || quote_literal(given.pack_after),
        'move_existing => ' || given.move_existing,
        CASE WHEN configure_zabbix THEN 'configure_zabbix => true' END,
        CASE WHEN never_pack THEN 'never_pack => true' END,
        'history_interval => ' || quote_literal(given.history_interval),
        'ingest => ' || quote_literal(given.ingest),
        'accept_deletion => true'))
$$;

COMMENT ON FUNCTION zbxhist_internal.setup_command(zbxhist.managed_schema, boolean, boolean) IS
'The call of setup with these options by which somebody agrees to what is lost (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.setup_command(zbxhist.managed_schema, boolean, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.setup_command(zbxhist.managed_schema, boolean, boolean) TO PUBLIC;
