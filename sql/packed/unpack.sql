-- sql/packed/unpack.sql

CREATE PROCEDURE zbxhist.unpack(parent regclass, day date)
LANGUAGE plpgsql
AS $$
DECLARE
    answer pg_catalog.text;
BEGIN
    CALL zbxhist_internal.next_transaction();
    CALL zbxhist_internal.unpack_together(parent, zbxhist_internal.days_to_unpack(parent, day), true, answer);
    -- the session's own search_path again, for the caller's next statement
    COMMIT;
END
$$;

COMMENT ON PROCEDURE zbxhist.unpack(regclass, date) IS
'Makes what is packed of a UTC day of a managed table ordinary partitions again; can be broken off and repeated';

REVOKE ALL ON PROCEDURE zbxhist.unpack(regclass, date) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE zbxhist.unpack(regclass, date) TO pg_database_owner;
