-- sql/functions/has_own_rows.sql
--
-- Like waiting_clock, but ends at the first row found.

CREATE FUNCTION zbxhist.has_own_rows(parent regclass, since_clock bigint)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    walks  CONSTANT boolean := zbxhist.own_pages(parent) >= 1000
                               AND zbxhist.has_item_index(parent);
    result boolean;
BEGIN
    IF since_clock IS NULL AND walks THEN
        EXECUTE format('SELECT (SELECT true FROM ONLY %s p ORDER BY p.itemid LIMIT 1)', parent)
            INTO result;
    ELSIF walks THEN
        EXECUTE format(
            'WITH RECURSIVE items AS ('
            ' (SELECT p.itemid FROM ONLY %1$s p ORDER BY p.itemid LIMIT 1)'
            ' UNION ALL'
            ' SELECT (SELECT p.itemid FROM ONLY %1$s p WHERE p.itemid > i.itemid'
            '          ORDER BY p.itemid LIMIT 1)'
            '   FROM items i WHERE i.itemid IS NOT NULL)'
            'SELECT true FROM items i'
            ' WHERE (SELECT true FROM ONLY %1$s p'
            '         WHERE p.itemid = i.itemid AND p.clock >= $1 LIMIT 1)'
            ' LIMIT 1', parent)
            INTO result USING since_clock;
    ELSE
        EXECUTE format('SELECT true FROM ONLY %s p WHERE p.clock >= $1 LIMIT 1', parent)
            INTO result USING coalesce(since_clock, -2147483648);
    END IF;
    RETURN coalesce(result, false);
END
$$;

COMMENT ON FUNCTION zbxhist.has_own_rows(regclass, bigint) IS
'Whether the parent itself holds a row, or one not older than a clock (internal)';

REVOKE ALL ON FUNCTION zbxhist.has_own_rows(regclass, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.has_own_rows(regclass, bigint) TO PUBLIC;
