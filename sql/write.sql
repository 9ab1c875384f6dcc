-- sql/write.sql

-- Stores a row for each element of the arrays and returns the number of rows stored; if a key exists,
-- it raises an error (error), keeps the old value (ignore) or stores the new one (update);
-- NULL::history names the managed table.
CREATE FUNCTION zbxhist.add(
    row_type anyelement, itemids bigint[], clocks integer[], ns integer[], "values" anycompatiblearray,
    on_conflict text DEFAULT 'error') RETURNS bigint
LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'zbxhist_add';

CREATE FUNCTION zbxhist.delete_values(parent regclass, itemid bigint, clock integer, ns integer, which text)
RETURNS bigint
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'zbxhist_delete_values';

COMMENT ON FUNCTION zbxhist.delete_values(regclass, bigint, integer, integer, text) IS
'Deletes the rows of an item at a moment (equal), before it (less, less_or_equal) or after it (greater, greater_or_equal) and returns their number';

CREATE FUNCTION zbxhist.delete_values(parent regclass, itemid bigint, moment timestamptz, which text) RETURNS bigint
LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT zbxhist.delete_values(parent, itemid, zbxhist_internal.time_clock(moment), zbxhist_internal.time_ns(moment), which)
$$;

COMMENT ON FUNCTION zbxhist.delete_values(regclass, bigint, timestamptz, text) IS
'Deletes the rows of an item at a time (equal), before it (less, less_or_equal) or after it (greater, greater_or_equal) and returns their number';

-- Deletes all rows of an item from every managed table and returns their number.
CREATE FUNCTION zbxhist.delete_item(itemid bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    parent  regclass;
    deleted bigint := 0;
BEGIN
    FOREACH parent IN ARRAY zbxhist_internal.parent_list() LOOP
        -- somebody may have dropped the triggers
        IF EXISTS (SELECT FROM pg_trigger t
                    WHERE t.tgrelid = parent AND t.tgname = 'zzz_zbxhist_route') THEN
            deleted := deleted + zbxhist.delete_values(
                parent, itemid, -2147483648, -2147483648, 'greater_or_equal');
        END IF;
    END LOOP;
    RETURN deleted;
END
$$;
