-- sql/packed/repack.sql

CREATE PROCEDURE zbxhist.repack(parent regclass, day date)
LANGUAGE plpgsql
AS $$
BEGIN
    CALL zbxhist_internal.next_transaction();
    CALL zbxhist_internal.repeat_by_hand(parent, 'repack', zbxhist_internal.day_to_unpack(parent, day));
END
$$;

COMMENT ON PROCEDURE zbxhist.repack(regclass, date) IS
'Writes the packed day of a managed table in which a UTC day begins anew, so that it takes as little space as it can; maintenance does so by itself';

REVOKE ALL ON PROCEDURE zbxhist.repack(regclass, date) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE zbxhist.repack(regclass, date) TO pg_database_owner;
