-- sql/maintenance/step_expire.sql
--
-- A parent of more than 1 GB is not cleaned row by row: its rows wait until all
-- of them are past retention, and then one TRUNCATE takes them.

CREATE FUNCTION zbxhist_internal.step_expire(parent regclass)
RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    cutoff CONSTANT bigint := zbxhist_internal.deletion_clock(parent);
    state  zbxhist.parent_state;
    batch  record;
BEGIN
    PERFORM zbxhist_internal.require_parent(parent);
    IF cutoff IS NULL OR zbxhist_internal.own_pages(parent) NOT BETWEEN 1 AND 131072 THEN
        RETURN 'done';
    END IF;
    SELECT * INTO STRICT state FROM zbxhist.parent_state s WHERE s.parent = step_expire.parent;
    IF state.action IS DISTINCT FROM 'expire' THEN
        IF zbxhist_internal.waiting_clock(parent, -2147483648, cutoff, false) IS NULL THEN
            RETURN 'done';
        END IF;
        PERFORM zbxhist_internal.set_action(parent, 'expire', NULL);
        SELECT * INTO STRICT state FROM zbxhist.parent_state s WHERE s.parent = step_expire.parent;
    END IF;
    batch := zbxhist_internal.delete_expired(parent, cutoff, state.position_itemid, 5000);
    IF NOT batch.done AND batch.deleted = 0 AND batch.last_itemid IS NOT DISTINCT FROM state.position_itemid THEN
        RAISE EXCEPTION 'deleting rows of % does not get on', parent
            USING ERRCODE = 'program_limit_exceeded',
                  DETAIL = format('No row was deleted after item %s.', state.position_itemid);
    END IF;
    UPDATE zbxhist.parent_state s
       SET position_itemid = batch.last_itemid, action_rows = s.action_rows + batch.deleted,
           settling = NULL
     WHERE s.parent = step_expire.parent;
    IF NOT batch.done THEN
        RETURN 'more';
    END IF;
    PERFORM zbxhist_internal.log_action(parent, 'expire', NULL, state.action_rows + batch.deleted, NULL,
                               state.action_started);
    PERFORM zbxhist_internal.set_action(parent, NULL, NULL);
    RETURN 'done';
END
$$;

COMMENT ON FUNCTION zbxhist_internal.step_expire(regclass) IS
'Maintenance: deletes a batch of rows past retention from the parent itself (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.step_expire(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.step_expire(regclass) TO pg_database_owner;
