-- sql/migrate/keep_pace.sql
--
-- Nothing is held while it sleeps.

CREATE PROCEDURE zbxhist_internal.keep_pace(
    source regclass,
    parent regclass,
    slice_from bigint,
    rows_a_second integer,
    began timestamptz)
LANGUAGE plpgsql
AS $$
DECLARE
    done pg_catalog.int8;
BEGIN
    CALL zbxhist_internal.next_transaction();
    IF rows_a_second IS NOT NULL THEN
        SELECT s.rows_read INTO done FROM zbxhist.import_slice s
         WHERE s.parent = keep_pace.parent AND s.source = keep_pace.source AND s.from_clock = slice_from;
        CALL zbxhist_internal.next_transaction();
        PERFORM pg_sleep(greatest(0, done / rows_a_second::double precision
                                     - extract(epoch FROM clock_timestamp() - began)));
    END IF;
END
$$;

COMMENT ON PROCEDURE zbxhist_internal.keep_pace(regclass, regclass, bigint, integer, timestamptz) IS
'Ends the transaction, and sleeps until the rows of a slice were not too many (internal)';

REVOKE ALL ON PROCEDURE zbxhist_internal.keep_pace(regclass, regclass, bigint, integer, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE zbxhist_internal.keep_pace(regclass, regclass, bigint, integer, timestamptz) TO pg_database_owner;
