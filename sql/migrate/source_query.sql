-- sql/migrate/source_query.sql
--
-- Of a table whose rows are found by their blocks only those are read.

CREATE FUNCTION zbxhist_internal.source_query(
    slice zbxhist.import_slice,
    columns text,
    from_clock bigint,
    to_clock bigint)
RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT string_agg(format('SELECT %s FROM %s s WHERE %ss.clock >= %s AND s.clock <= %s', columns,
                             CASE WHEN b.first IS NULL THEN '' ELSE 'ONLY ' END || (slice).source,
                             CASE WHEN b.first IS NULL THEN ''
                                  ELSE format('s.ctid >= ''(%s,0)'' AND s.ctid < ''(%s,0)'' AND ', b.first, b.behind) END,
                             from_clock, to_clock - 1), ' UNION ALL ')
      FROM (SELECT NULL::bigint, NULL::bigint WHERE (slice).first_block IS NULL
             UNION ALL
            SELECT * FROM unnest((slice).first_block, (slice).end_block)) AS b (first, behind)
$$;

COMMENT ON FUNCTION zbxhist_internal.source_query(zbxhist.import_slice, text, bigint, bigint) IS
'The query that reads rows of a slice of an import (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.source_query(zbxhist.import_slice, text, bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.source_query(zbxhist.import_slice, text, bigint, bigint) TO PUBLIC;
