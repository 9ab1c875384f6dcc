-- sql/packed/note_culprit.sql
--
-- An error names the table that it is about.  Its SQLSTATE tells check() of
-- damage, of which there is a line of its own.

CREATE FUNCTION zbxhist_internal.note_culprit(days regclass[], sqlstate text, problem text)
RETURNS regclass
LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    UPDATE zbxhist.packed_day d SET not_compacted = format('%s (%s)', problem, sqlstate)
     WHERE d.day = (
           SELECT k.oid
             FROM unnest(days) WITH ORDINALITY u (day, place)
             JOIN pg_class k ON k.oid = u.day
            ORDER BY strpos(problem, k.relname) = 0, length(k.relname) DESC, u.place
            LIMIT 1)
    RETURNING d.day
$$;

COMMENT ON FUNCTION zbxhist_internal.note_culprit(regclass[], text, text) IS
'Notes why packed days cannot be made one, at the one that is to blame, and returns that (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.note_culprit(regclass[], text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.note_culprit(regclass[], text, text) TO pg_database_owner;
