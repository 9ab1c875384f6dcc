-- sql/migrate/describe_hypertable.sql

CREATE FUNCTION zbxhist_internal.describe_hypertable(hypertable regclass)
RETURNS SETOF text
LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT format('would rename hypertable %s, of %s chunks, to %I and put an empty table in its place, managed by zbxhist',
                  hypertable, (SELECT count(*) FROM pg_inherits i WHERE i.inhparent = hypertable),
                  zbxhist_internal.former_name(hypertable))
     UNION ALL
    SELECT format('policy: %s', zbxhist_internal.describe_planned_policy(zbxhist_internal.adoption_policy(hypertable), false))
$$;

COMMENT ON FUNCTION zbxhist_internal.describe_hypertable(regclass) IS
'What adopt_hypertable would do, a line each (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.describe_hypertable(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.describe_hypertable(regclass) TO pg_database_owner;
