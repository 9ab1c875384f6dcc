-- sql/migrate/describe_import.sql

CREATE FUNCTION zbxhist_internal.describe_import(source regclass, parent regclass)
RETURNS SETOF text
LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    WITH slice AS MATERIALIZED (SELECT s FROM zbxhist_internal.plan_import(source, parent) s)
    SELECT format('would import %s rows of table %s into table %s: %s to %s, %s parts, of which %s are packed straight away',
                  zbxhist_internal.execute_as_owner(parent, format('SELECT count(*) FROM %s', source)), source, parent,
                  to_char(to_timestamp(min((s).from_clock)) AT TIME ZONE 'UTC', 'YYYY-MM-DD'),
                  to_char(to_timestamp(max((s).to_clock)) AT TIME ZONE 'UTC', 'YYYY-MM-DD'),
                  count(*), count(*) FILTER (WHERE EXISTS (SELECT FROM zbxhist_internal.import_gaps(s))))
      FROM slice
     UNION ALL
    SELECT zbxhist_internal.expiring_slices(parent, ARRAY(SELECT (s).to_clock FROM slice))
     UNION ALL
    SELECT zbxhist_internal.describe_import_triggers(parent)
$$;

COMMENT ON FUNCTION zbxhist_internal.describe_import(regclass, regclass) IS
'What an import would do, a line each (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.describe_import(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.describe_import(regclass, regclass) TO pg_database_owner;
