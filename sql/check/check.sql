-- sql/check/check.sql

CREATE FUNCTION zbxhist.check()
RETURNS TABLE (severity text, code text, object text, message text, hint text)
LANGUAGE sql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT f.*
      FROM (SELECT 0 AS place, d.* FROM zbxhist_internal.check_database() d
            UNION ALL SELECT 0, b.* FROM zbxhist_internal.check_backup() b
            UNION ALL
            SELECT u.place, c.*
              FROM unnest(zbxhist_internal.parent_list()) WITH ORDINALITY AS u (parent, place),
                   zbxhist_internal.check_parent(u.parent) c
           ) AS a (place, severity, code, object, message, hint),
           LATERAL (SELECT a.severity, a.code, a.object, a.message, a.hint) f
     ORDER BY CASE a.severity WHEN 'error' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END,
              a.place, a.code, a.object, a.message COLLATE "C"
$$;

COMMENT ON FUNCTION zbxhist.check() IS
'Everything an administrator should know, with what mends it; no rows when all is well';

REVOKE ALL ON FUNCTION zbxhist.check() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.check() TO PUBLIC;
