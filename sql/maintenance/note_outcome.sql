-- sql/maintenance/note_outcome.sql

CREATE FUNCTION zbxhist_internal.note_outcome(
    parent regclass,
    step text,
    relation text,
    answer text,
    sqlstate text DEFAULT NULL,
    message text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF answer NOT IN ('wait', 'postponed', 'locked', 'failed') THEN
        DELETE FROM zbxhist.step_problem p
         WHERE p.parent = note_outcome.parent AND p.step = note_outcome.step
           AND p.relation = coalesce(note_outcome.relation, '');
        RETURN;
    END IF;
    INSERT INTO zbxhist.step_problem AS p (parent, step, relation, since, last_at, sqlstate, message)
    VALUES (parent, step, coalesce(relation, ''), clock_timestamp(), clock_timestamp(), sqlstate, message)
    ON CONFLICT ON CONSTRAINT step_problem_pkey DO UPDATE
       SET last_at = excluded.last_at, sqlstate = excluded.sqlstate, message = excluded.message;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.note_outcome(regclass, text, text, text, text, text) IS
'Notes that a step of maintenance could not be done, or forgets that (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.note_outcome(regclass, text, text, text, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.note_outcome(regclass, text, text, text, text, text) TO pg_database_owner;
