-- sql/write/delete_item.sql

CREATE FUNCTION zbxhist.delete_item(itemid bigint)
RETURNS bigint
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    parent  regclass;
    deleted bigint := 0;
BEGIN
    FOREACH parent IN ARRAY zbxhist_internal.parent_list() LOOP
        -- the policy may outlive the triggers
        IF EXISTS (SELECT FROM pg_trigger t
                    WHERE t.tgrelid = parent AND t.tgname = 'zzz_zbxhist_route') THEN
            deleted := deleted + zbxhist.delete_values(
                parent, itemid, -2147483648, -2147483648, 'greater_or_equal');
        END IF;
    END LOOP;
    RETURN deleted;
END
$$;

COMMENT ON FUNCTION zbxhist.delete_item(bigint) IS
'Deletes all rows of an item from every managed table and returns their number';

REVOKE ALL ON FUNCTION zbxhist.delete_item(bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.delete_item(bigint) TO pg_database_owner;
