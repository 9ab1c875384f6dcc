-- sql/maintenance/log_action.sql

CREATE FUNCTION zbxhist_internal.log_action(
    parent regclass,
    action text,
    relation text,
    rows bigint,
    bytes bigint,
    started_at timestamptz,
    lock_wait interval DEFAULT NULL,
    sqlstate text DEFAULT NULL,
    message text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    INSERT INTO zbxhist.maintenance_log
        (started_at, parent, action, relation, rows, bytes, duration, lock_wait, sqlstate, message)
    VALUES (started_at, parent, action, relation, rows, bytes,
            clock_timestamp() - started_at, lock_wait, sqlstate, message);
    IF sqlstate IN ('XX001', 'XX002') THEN
        PERFORM zbxhist_internal.note_verified(d.parent, d.day, message)
           FROM zbxhist.packed_day d WHERE d.parent = log_action.parent AND d.day::text = relation;
    END IF;
    -- a lock not got is tried again, and no error yet
    IF parent IS NOT NULL AND sqlstate IS NOT NULL AND NOT zbxhist_internal.is_transient(sqlstate) THEN
        INSERT INTO zbxhist.parent_state AS s (parent, failed, last_error, last_error_at)
        VALUES (parent, true, message, clock_timestamp())
        ON CONFLICT ON CONSTRAINT parent_state_pkey DO UPDATE
           SET failed = true, last_error = excluded.last_error,
               last_error_at = excluded.last_error_at;
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.log_action(regclass, text, text, bigint, bigint, timestamptz, interval, text, text) IS
'Writes an entry of the maintenance log and, if it is an error, remembers it for the status (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.log_action(regclass, text, text, bigint, bigint, timestamptz, interval, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.log_action(regclass, text, text, bigint, bigint, timestamptz, interval, text, text) TO pg_database_owner;
