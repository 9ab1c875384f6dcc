-- sql/packed/day_to_unpack.sql

CREATE FUNCTION zbxhist_internal.day_to_unpack(parent regclass, day date)
RETURNS regclass
LANGUAGE plpgsql VOLATILE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    moment CONSTANT bigint := zbxhist_internal.day_clock(day);
    result regclass;
BEGIN
    PERFORM zbxhist_internal.require_parent(parent);
    SELECT d.day INTO result FROM zbxhist.packed_day d
     WHERE d.parent = day_to_unpack.parent AND moment >= d.from_clock AND moment < d.to_clock;
    IF NOT FOUND THEN
        RAISE EXCEPTION '% of table % is not packed', to_char(day, 'YYYY-MM-DD'), parent
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = format('SELECT * FROM zbxhist.partitions WHERE parent = %L::regclass;', parent);
    END IF;
    RETURN result;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.day_to_unpack(regclass, date) IS
'The table of the packed day in which a UTC day begins; raises an error if there is none (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.day_to_unpack(regclass, date) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.day_to_unpack(regclass, date) TO PUBLIC;
