-- sql/check/check_parent.sql
--
-- What a table is like that does not fit any more cannot be told by its clocks.

CREATE FUNCTION zbxhist_internal.check_parent(parent regclass)
RETURNS TABLE (severity text, code text, object text, message text, hint text)
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY SELECT * FROM zbxhist_internal.check_fit(parent);
    IF FOUND THEN
        RETURN;
    END IF;
    RETURN QUERY SELECT * FROM zbxhist_internal.check_policy(parent);
    RETURN QUERY SELECT * FROM zbxhist_internal.check_deleted_items(parent);
    RETURN QUERY SELECT * FROM zbxhist_internal.check_maintenance(parent);
    RETURN QUERY SELECT * FROM zbxhist_internal.check_triggers(parent);
    RETURN QUERY SELECT * FROM zbxhist_internal.check_partitions(parent);
    RETURN QUERY SELECT * FROM zbxhist_internal.check_columns(parent);
    RETURN QUERY SELECT * FROM zbxhist_internal.check_row_triggers(parent);
    RETURN QUERY SELECT * FROM zbxhist_internal.check_packed(parent);
    RETURN QUERY SELECT * FROM zbxhist_internal.check_runs(parent);
    RETURN QUERY SELECT * FROM zbxhist_internal.check_rows(parent);
END
$$;

COMMENT ON FUNCTION zbxhist_internal.check_parent(regclass) IS
'The part of check that is about one managed table (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.check_parent(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.check_parent(regclass) TO PUBLIC;
