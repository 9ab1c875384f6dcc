-- sql/parent_rows/remove_marks.sql
--
-- With a mark nothing counts as verified.  Without it that must be so, too,
-- until somebody has looked.

CREATE FUNCTION zbxhist_internal.remove_marks(parent regclass)
RETURNS void
LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    UPDATE zbxhist.partition_state s SET verified = NULL
     WHERE s.parent = remove_marks.parent
       AND EXISTS (SELECT FROM zbxhist.stray_mark m WHERE m.parent = remove_marks.parent);
    DELETE FROM zbxhist.stray_mark m WHERE m.parent = remove_marks.parent;
    SELECT zbxhist_internal.invalidate(parent)
$$;

COMMENT ON FUNCTION zbxhist_internal.remove_marks(regclass) IS
'Removes the marks of strays and, if there are any, what had been verified before them (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.remove_marks(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.remove_marks(regclass) TO pg_database_owner;
