-- sql/parent_rows/count_waiting.sql

CREATE FUNCTION zbxhist_internal.count_waiting(parent regclass, from_clock bigint, to_clock bigint)
RETURNS bigint
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF zbxhist_internal.own_pages(parent) >= 10000 THEN
        RETURN NULL;
    END IF;
    RETURN zbxhist_internal.count_own_rows(parent, from_clock, to_clock);
END
$$;

COMMENT ON FUNCTION zbxhist_internal.count_waiting(regclass, bigint, bigint) IS
'Rows of the parent itself in a clock range; NULL if it is too large to be counted by the way (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.count_waiting(regclass, bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.count_waiting(regclass, bigint, bigint) TO PUBLIC;
