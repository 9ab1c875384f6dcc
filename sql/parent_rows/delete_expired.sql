-- sql/parent_rows/delete_expired.sql

CREATE FUNCTION zbxhist_internal.delete_expired(
    parent regclass,
    cutoff bigint,
    after_itemid bigint,
    max_rows integer,
    OUT deleted bigint,
    OUT last_itemid bigint,
    OUT done boolean)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    next_item CONSTANT text := format(
        'SELECT p.itemid FROM ONLY %s p WHERE p.itemid > $1::bigint OR $1 IS NULL ORDER BY p.itemid LIMIT 1',
        parent);
    cut CONSTANT text := format(
        'DELETE FROM ONLY %1$s WHERE clock < $2::bigint AND ctid = ANY (ARRAY('
        'SELECT p.ctid FROM ONLY %1$s p WHERE p.itemid = $1::bigint AND p.clock < $2::bigint'
        ' LIMIT $3::bigint))', parent);
    item  bigint;
    wiped bigint;
BEGIN
    deleted := 0;
    last_itemid := after_itemid;
    done := false;
    FOR step IN 1 .. 2000 LOOP
        item := zbxhist_internal.execute_as_owner(parent, next_item, last_itemid::text);
        IF item IS NULL THEN
            done := true;
            RETURN;
        END IF;
        wiped := zbxhist_internal.execute_as_owner(parent, cut, item::text, cutoff::text,
                                                   (max_rows - deleted)::text);
        deleted := deleted + wiped;
        -- an item cut short is gone on with in the next batch
        EXIT WHEN deleted >= max_rows;
        last_itemid := item;
    END LOOP;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.delete_expired(regclass, bigint, bigint, integer) IS
'Deletes a bounded number of rows past retention from the parent itself, in the order of itemid (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.delete_expired(regclass, bigint, bigint, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.delete_expired(regclass, bigint, bigint, integer) TO pg_database_owner;
