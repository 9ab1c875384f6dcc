-- sql/packed/note_culprit.sql

CREATE FUNCTION zbxhist_internal.note_culprit(days regclass[], table_name text, problem text)
RETURNS regclass
LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    UPDATE zbxhist.packed_day d SET not_compacted = problem
     WHERE d.day = (
           SELECT k.oid
             FROM unnest(days) WITH ORDINALITY u (day, place)
             JOIN pg_class k ON k.oid = u.day
            ORDER BY k.relname <> table_name,
                     NOT EXISTS (SELECT FROM pg_depend p
                                  WHERE p.refclassid = 'pg_class'::regclass AND p.refobjid = k.oid
                                    AND p.deptype = 'n'),
                     u.place
            LIMIT 1)
    RETURNING d.day
$$;

COMMENT ON FUNCTION zbxhist_internal.note_culprit(regclass[], text, text) IS
'Notes why packed days cannot be made one: at the one that an error names, else at the first one on which something depends (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.note_culprit(regclass[], text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.note_culprit(regclass[], text, text) TO pg_database_owner;
