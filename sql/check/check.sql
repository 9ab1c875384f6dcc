-- sql/check/check.sql
--
-- What has one cause and is mended by one command is one line.

CREATE FUNCTION zbxhist.check()
RETURNS TABLE (severity text, code text, object text, message text, hint text)
LANGUAGE sql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT g.severity, g.code, zbxhist_internal.object_list(g.objects), g.message, g.hint
      FROM (
            SELECT a.severity, a.code, min(a.place) AS place,
                   array_agg(a.object ORDER BY a.place, a.object COLLATE "C") AS objects, a.message, a.hint
              FROM (SELECT 0 AS place, d.* FROM zbxhist_internal.check_database() d
                    UNION ALL
                    SELECT 0, b.* FROM zbxhist_internal.check_backup() b
                    UNION ALL
                    SELECT 0, s.* FROM zbxhist_internal.check_seen() s
                    UNION ALL
                    SELECT 1, z.* FROM zbxhist_internal.check_zabbix() z
                    UNION ALL
                    SELECT 1 + t.step / 10.0, t.severity, t.code, t.object, t.message, t.hint
                      FROM zbxhist_internal.check_timescaledb() t
                    UNION ALL
                    SELECT u.place + 1, c.*
                      FROM unnest(zbxhist_internal.parent_list()) WITH ORDINALITY AS u (parent, place),
                           zbxhist_internal.check_parent(u.parent) c
                   ) AS a (place, severity, code, object, message, hint)
             GROUP BY a.severity, a.code, a.message, a.hint) g
     ORDER BY CASE g.severity WHEN 'error' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END,
              g.place, g.code, g.objects[1] COLLATE "C", g.message COLLATE "C"
$$;

COMMENT ON FUNCTION zbxhist.check() IS
'Everything an administrator should know, a line for each cause, with the command that mends it; no rows when all is well';

REVOKE ALL ON FUNCTION zbxhist.check() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.check() TO PUBLIC;
