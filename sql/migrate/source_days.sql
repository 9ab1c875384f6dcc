-- sql/migrate/source_days.sql

CREATE FUNCTION zbxhist_internal.source_days(source regclass, parent regclass)
RETURNS TABLE (low bigint, high bigint)
LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT (d ->> 0)::bigint, (d ->> 1)::bigint
      FROM json_array_elements(zbxhist_internal.execute_as_owner(parent, format(
               'SELECT json_agg(json_build_array(low, high)) FROM (SELECT min(clock) AS low, max(clock) AS high FROM %s'
               ' GROUP BY floor(clock / 86400.0)) d', source))::json) d
$$;

COMMENT ON FUNCTION zbxhist_internal.source_days(regclass, regclass) IS
'The least and the greatest clock of each day that a table has rows of (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.source_days(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.source_days(regclass, regclass) TO pg_database_owner;
