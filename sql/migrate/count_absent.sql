-- sql/migrate/count_absent.sql
--
-- Compared value by value, as many times as each row is there, or by the columns of
-- a key; as text where a type knows no equality.

CREATE FUNCTION zbxhist_internal.count_absent(
    parent regclass,
    query text,
    from_clock bigint,
    to_clock bigint,
    keys name[])
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    columns text;
    labels  text;
BEGIN
    SELECT string_agg(format(CASE WHEN o.is_comparable THEN 'r.%I' ELSE 'r.%I::text' END, a.attname), ', ' ORDER BY a.attnum),
           string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum)
      INTO columns, labels
      FROM pg_attribute a
      JOIN pg_type t ON t.oid = a.atttypid
     CROSS JOIN LATERAL (
           SELECT EXISTS (SELECT FROM pg_opclass c JOIN pg_am m ON m.oid = c.opcmethod
                           WHERE m.amname = 'btree' AND c.opcdefault
                             AND (c.opcintype = a.atttypid
                                  OR a.atttypid = 'varchar'::regtype AND c.opcintype = 'text'::regtype)) AS is_comparable) o
     WHERE a.attrelid = count_absent.parent AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
       AND (keys IS NULL OR a.attname = ANY (keys));
    RETURN coalesce(zbxhist_internal.execute_as_owner(parent, format(
        'SELECT sum(n) FROM (SELECT sum(n) AS n FROM (SELECT %1$s, 1 AS n FROM (%3$s) r'
        ' UNION ALL SELECT %1$s, -1 FROM %4$s r WHERE r.clock >= %5$s AND r.clock <= %6$s) AS b (%2$s, n)'
        ' GROUP BY %2$s HAVING %7$s(n) > 0) AS a',
        columns, labels, query, parent, from_clock, to_clock - 1, CASE WHEN keys IS NULL THEN 'sum' ELSE 'min' END))::bigint, 0);
END
$$;

COMMENT ON FUNCTION zbxhist_internal.count_absent(regclass, text, bigint, bigint, name[]) IS
'How many rows of a query a managed table does not have in a range of clocks, with just these values or by their keys (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.count_absent(regclass, text, bigint, bigint, name[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.count_absent(regclass, text, bigint, bigint, name[]) TO pg_database_owner;
