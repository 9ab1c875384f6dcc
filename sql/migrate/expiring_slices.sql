-- sql/migrate/expiring_slices.sql

CREATE FUNCTION zbxhist_internal.expiring_slices(parent regclass, to_clocks bigint[])
RETURNS SETOF text
LANGUAGE sql VOLATILE STRICT PARALLEL SAFE ROWS 1
SET search_path = pg_catalog, pg_temp
SET intervalstyle = postgres
AS $$
    SELECT format('the next maintenance deletes what is older than %s (%s): %s of these parts',
                  e.retention, e.source, count(*))
      FROM unnest(to_clocks) AS s (to_clock), zbxhist.parent_config c,
           zbxhist_internal.effective_retention(c.parent, c.retention) e
     WHERE c.parent = expiring_slices.parent
       AND s.to_clock <= zbxhist_internal.deletion_clock(c.parent)
     GROUP BY e.retention, e.source
$$;

COMMENT ON FUNCTION zbxhist_internal.expiring_slices(regclass, bigint[]) IS
'That slices of an import are past retention; no row if none are (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.expiring_slices(regclass, bigint[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.expiring_slices(regclass, bigint[]) TO pg_database_owner;
