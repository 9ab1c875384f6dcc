-- sql/check/check_alignment.sql

CREATE FUNCTION zbxhist_internal.check_alignment(parent regclass)
RETURNS TABLE (severity text, code text, object text, message text, hint text)
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    remedy CONSTANT text := 'CALL zbxhist.run_maintenance();';
BEGIN
    RETURN QUERY
        SELECT w.severity, w.code, zbxhist_internal.object_list(array_agg(p.partition::text ORDER BY p.partition::text)),
               w.message, remedy
          FROM zbxhist_internal.unaligned_partitions(parent) AS p (partition),
               unnest(zbxhist_internal.unlike(parent, p.partition)) AS u (what)
          JOIN (VALUES ('privileges', 'warning', 'privileges', 'its privileges are not those of its parent.  To read through the parent does not take any'),
                       ('foreign keys', 'warning', 'foreign_keys', 'it lacks foreign keys of its parent: they do not hold for its rows'),
                       ('row triggers', 'warning', 'row_triggers', 'it lacks row triggers of its parent: they do not fire for its rows'))
               AS w (what, severity, code, message) ON w.what = u.what
         GROUP BY w.severity, w.code, w.message;
    RETURN QUERY
        SELECT 'warning', 'indexes', zbxhist_internal.object_list(array_agg(u::text ORDER BY u::text)),
               'it lacks indexes of its parent', remedy
          FROM zbxhist_internal.unindexed_partitions(parent) u
        HAVING count(*) > 0;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.check_alignment(regclass) IS
'The part of check that is about what maintenance ought to have given to partitions (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.check_alignment(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.check_alignment(regclass) TO PUBLIC;
