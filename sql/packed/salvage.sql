-- sql/packed/salvage.sql

CREATE PROCEDURE zbxhist.salvage(parent regclass, day date)
LANGUAGE plpgsql
AS $$
BEGIN
    CALL zbxhist_internal.next_transaction();
    CALL zbxhist_internal.repeat_each_by_hand(parent, 'salvage', zbxhist_internal.days_to_unpack(parent, day, true));
END
$$;

COMMENT ON PROCEDURE zbxhist.salvage(regclass, date) IS
'Makes what can be read of a damaged packed day an ordinary partition again, or what is packed of it several ones, and tells what is lost; can be broken off and repeated';

REVOKE ALL ON PROCEDURE zbxhist.salvage(regclass, date) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE zbxhist.salvage(regclass, date) TO pg_database_owner;
