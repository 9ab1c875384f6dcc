-- sql/packed/repack.sql

CREATE PROCEDURE zbxhist.repack(parent regclass, day date)
LANGUAGE plpgsql
AS $$
BEGIN
    CALL zbxhist_internal.next_transaction();
    CALL zbxhist_internal.repeat_each_by_hand(parent, 'repack', zbxhist_internal.days_to_unpack(parent, day));
END
$$;

COMMENT ON PROCEDURE zbxhist.repack(regclass, date) IS
'Writes what is packed of a UTC day of a managed table anew, so that it takes as little space as it can; maintenance does so by itself';

REVOKE ALL ON PROCEDURE zbxhist.repack(regclass, date) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE zbxhist.repack(regclass, date) TO pg_database_owner;
