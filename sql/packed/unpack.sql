-- sql/packed/unpack.sql

-- Moves all rows of a packed day into a partition and returns their number.
CREATE FUNCTION zbxhist_internal.unpack_rows(day regclass, partition regclass) RETURNS bigint
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'zbxhist_unpack_rows';

-- Returns the packed parts of a UTC day; raises an error if there are none.
CREATE FUNCTION zbxhist_internal.days_to_unpack(parent regclass, day date) RETURNS regclass[]
LANGUAGE plpgsql VOLATILE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    result regclass[];
BEGIN
    PERFORM zbxhist_internal.require_parent(parent);
    SELECT array_agg(r.relation ORDER BY r.from_clock) INTO result
      FROM zbxhist_internal.ranges_of_day(parent, day) r
     WHERE r.is_packed;
    PERFORM zbxhist_internal.refuse('55000', format('%s of table %s is not packed', to_char(day, 'YYYY-MM-DD'), parent),
        hint => format('SELECT * FROM zbxhist.partitions WHERE parent = %L::regclass;', parent))
      WHERE result IS NULL;
    RETURN result;
END
$$;

-- Turns the packed parts of a UTC day of a managed table into ordinary partitions; can be interrupted
-- and repeated.
CREATE PROCEDURE zbxhist.unpack(parent regclass, day date)
LANGUAGE plpgsql AS $$
DECLARE
    answer pg_catalog.text;
BEGIN
    CALL zbxhist_internal.next_transaction();
    CALL zbxhist_internal.repeat_step(parent, 'unpack', zbxhist_internal.days_to_unpack(parent, day), true, answer);
    -- ends the transaction's search_path: the caller's next statement has the session's
    COMMIT;
END
$$;
