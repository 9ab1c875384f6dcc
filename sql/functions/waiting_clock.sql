-- sql/functions/waiting_clock.sql
--
-- A table of terabytes must not be read for this: its index (itemid, clock) is
-- walked from item to item, and of each item only the outermost row in the
-- range is looked at.  Small tables, and such without that index, are read.

CREATE FUNCTION zbxhist.waiting_clock(
    parent regclass,
    from_clock bigint,
    to_clock bigint,
    newest boolean)
RETURNS bigint
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    result bigint;
BEGIN
    IF zbxhist.own_pages(parent) < 1000 OR NOT zbxhist.has_item_index(parent) THEN
        EXECUTE format('SELECT %s(p.clock) FROM ONLY %s p WHERE p.clock >= $1 AND p.clock < $2',
                       CASE WHEN newest THEN 'max' ELSE 'min' END, parent)
            INTO result USING from_clock, to_clock;
    ELSE
        EXECUTE format(
            'WITH RECURSIVE items AS ('
            ' (SELECT p.itemid FROM ONLY %1$s p ORDER BY p.itemid LIMIT 1)'
            ' UNION ALL'
            ' SELECT (SELECT p.itemid FROM ONLY %1$s p WHERE p.itemid > i.itemid'
            '          ORDER BY p.itemid LIMIT 1)'
            '   FROM items i WHERE i.itemid IS NOT NULL)'
            'SELECT %2$s((SELECT p.clock FROM ONLY %1$s p'
            '              WHERE p.itemid = i.itemid AND p.clock >= $1 AND p.clock < $2'
            '              ORDER BY p.itemid %3$s, p.clock %3$s LIMIT 1))'
            '  FROM items i WHERE i.itemid IS NOT NULL',
            parent,
            CASE WHEN newest THEN 'max' ELSE 'min' END,
            CASE WHEN newest THEN 'DESC' ELSE 'ASC' END)
            INTO result USING from_clock, to_clock;
    END IF;
    RETURN result;
END
$$;

COMMENT ON FUNCTION zbxhist.waiting_clock(regclass, bigint, bigint, boolean) IS
'The newest or oldest clock in a range among the rows of the parent itself; NULL if there is none (internal)';

REVOKE ALL ON FUNCTION zbxhist.waiting_clock(regclass, bigint, bigint, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.waiting_clock(regclass, bigint, bigint, boolean) TO PUBLIC;
