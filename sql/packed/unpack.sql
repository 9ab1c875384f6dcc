-- sql/packed/unpack.sql

CREATE PROCEDURE zbxhist.unpack(parent regclass, day date)
LANGUAGE plpgsql
AS $$
BEGIN
    CALL zbxhist_internal.next_transaction();
    CALL zbxhist_internal.repeat_by_hand(parent, 'unpack', zbxhist_internal.day_to_unpack(parent, day));
END
$$;

COMMENT ON PROCEDURE zbxhist.unpack(regclass, date) IS
'Makes the packed day of a managed table in which a UTC day begins an ordinary partition again; can be broken off and repeated';

REVOKE ALL ON PROCEDURE zbxhist.unpack(regclass, date) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE zbxhist.unpack(regclass, date) TO pg_database_owner;
