-- sql/packed/compact.sql

CREATE PROCEDURE zbxhist.compact(parent regclass, day date)
LANGUAGE plpgsql
AS $$
BEGIN
    CALL zbxhist_internal.next_transaction();
    CALL zbxhist_internal.repeat_each_by_hand(parent, 'compact', zbxhist_internal.ranges_to_compact(parent, day));
END
$$;

COMMENT ON PROCEDURE zbxhist.compact(regclass, date) IS
'Makes the packed hours, or other parts, of a UTC day of a managed table that follow each other one packed table; maintenance does so by itself';

REVOKE ALL ON PROCEDURE zbxhist.compact(regclass, date) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE zbxhist.compact(regclass, date) TO pg_database_owner;
