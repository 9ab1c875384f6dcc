-- sql/operate/absorb.sql

CREATE PROCEDURE zbxhist.absorb(parent regclass, child regclass)
LANGUAGE plpgsql
AS $$
DECLARE
    started  pg_catalog.timestamptz;
    blocks   pg_catalog.int8;
    since    pg_catalog.xid8;
    settling pg_catalog.text[];
    tries    pg_catalog.int4 := 0;
BEGIN
    CALL zbxhist_internal.next_transaction();
    started := clock_timestamp();
    PERFORM zbxhist_internal.absorb_begin(parent, child);
    CALL zbxhist_internal.next_transaction();
    blocks := pg_relation_size(child) / current_setting('block_size')::pg_catalog.int8;
    FOR block IN 0 .. blocks - 1 BY 256 LOOP
        PERFORM zbxhist_internal.absorb_batch(parent, child, block, block + 256);
        since := pg_current_xact_id();
        CALL zbxhist_internal.next_transaction();
    END LOOP;
    -- who began before finds the rows here
    since := coalesce(since, pg_current_xact_id());
    CALL zbxhist_internal.next_transaction();
    settling := zbxhist_internal.running_transactions();
    WHILE NOT zbxhist_internal.is_settled(settling, since) LOOP
        tries := tries + 1;
        PERFORM zbxhist_internal.refuse_to_wait(parent, tries);
        PERFORM pg_sleep(0.25);
        CALL zbxhist_internal.next_transaction();
    END LOOP;
    PERFORM zbxhist_internal.absorb_end(parent, child, since, started);
    -- the session's own search_path again, for the caller's next statement
    COMMIT;
END
$$;

COMMENT ON PROCEDURE zbxhist.absorb(regclass, regclass) IS
'Moves the rows of a table that inherits from a managed one, and is no partition of it or in the way of others, to where they belong, and makes it a table of its own; can be broken off and repeated';

REVOKE ALL ON PROCEDURE zbxhist.absorb(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE zbxhist.absorb(regclass, regclass) TO pg_database_owner;
