-- sql/packed/note_verified.sql

CREATE FUNCTION zbxhist_internal.note_verified(parent regclass, day regclass, problem text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- a standby, or a session that only reads, has the note of the query
    IF NOT current_setting('transaction_read_only')::boolean
       AND has_table_privilege('zbxhist.verified_day', 'INSERT, UPDATE') THEN
        INSERT INTO zbxhist.verified_day AS v (day, parent, verified_at, found_at, problem)
        VALUES (day, parent, clock_timestamp(), CASE WHEN problem IS NOT NULL THEN clock_timestamp() END, problem)
        ON CONFLICT ON CONSTRAINT verified_day_pkey DO UPDATE
           SET verified_at = excluded.verified_at, problem = excluded.problem,
               found_at = CASE WHEN excluded.problem IS NOT NULL THEN coalesce(v.found_at, excluded.found_at) END;
    ELSIF problem IS NOT NULL THEN
        RETURN;
    END IF;
    PERFORM zbxhist_internal.forget_damage(day);
END
$$;

COMMENT ON FUNCTION zbxhist_internal.note_verified(regclass, regclass, text) IS
'Remembers that a packed day has been looked through, and what is damaged in it; NULL if nothing (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.note_verified(regclass, regclass, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.note_verified(regclass, regclass, text) TO pg_database_owner;
