-- sql/migrate/source_days.sql
--
-- TimescaleDB knows the ranges of its chunks; all others are read once.

CREATE FUNCTION zbxhist_internal.source_days(source regclass, parent regclass)
RETURNS TABLE (low bigint, high bigint)
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    query CONSTANT text := CASE
        WHEN source IN (SELECT zbxhist_internal.hypertables())
             AND to_regclass('timescaledb_information.chunks') IS NOT NULL
        THEN (SELECT format('SELECT c.range_start_integer AS low, c.range_end_integer - 1 AS high'
                            ' FROM timescaledb_information.chunks c WHERE c.hypertable_schema = %L AND c.hypertable_name = %L',
                            n.nspname, k.relname)
                FROM pg_class k JOIN pg_namespace n ON n.oid = k.relnamespace WHERE k.oid = source)
        ELSE format('SELECT min(clock) AS low, max(clock) AS high FROM %s GROUP BY floor(clock / 86400.0)', source) END;
BEGIN
    RETURN QUERY
        SELECT (d ->> 0)::bigint, (d ->> 1)::bigint
          FROM json_array_elements(zbxhist_internal.execute_as_owner(parent, format(
                   'SELECT json_agg(json_build_array(low, high)) FROM (%s) d', query))::json) d;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.source_days(regclass, regclass) IS
'The least and the greatest clock of each day that a table has rows of, or of what holds them (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.source_days(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.source_days(regclass, regclass) TO pg_database_owner;
