-- sql/check/check_seen.sql
--
-- Who only monitors is not to take it for a good sign that nothing is told.

CREATE FUNCTION zbxhist_internal.check_seen()
RETURNS TABLE (severity text, code text, object text, message text, hint text)
LANGUAGE sql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT 'warning', 'not_seen', quote_ident(current_user),
           format('what this role may not read, check() does not see: %s.  Who owns the tables sees it, and so does maintenance: how many lines that had last, metrics() says',
                  string_agg(u.codes, '; ' ORDER BY u.place)),
           CASE WHEN min(u.place) < 5 THEN format('GRANT pg_read_all_data TO %I;', current_user) END
      FROM (SELECT 1, 'damaged days (damaged_day)'
             WHERE NOT has_table_privilege('zbxhist.maintenance_log', 'SELECT')
             UNION ALL
            SELECT 2, 'what was lost by damage (lost_values)'
             WHERE NOT has_table_privilege('zbxhist.lost_values', 'SELECT')
             UNION ALL
            SELECT 3, 'rows that wait in a table itself (rows_in_parent, late_rows, duplicates, not_truncated)'
             WHERE EXISTS (SELECT FROM unnest(zbxhist_internal.parent_list()) p WHERE NOT has_table_privilege(p, 'SELECT'))
             UNION ALL
            SELECT 4, 'runs that nobody merges (runs_not_merged)'
             WHERE EXISTS (SELECT FROM zbxhist.packed_day d
                             JOIN pg_class k ON k.oid = d.day
                            WHERE d.runs AND NOT has_table_privilege(k.oid, 'SELECT'))
             UNION ALL
            SELECT 5, 'whether values of deleted items can be left out (deleted_items)'
             WHERE EXISTS (SELECT FROM zbxhist.parent_config c
                             JOIN pg_class k ON k.oid = c.parent
                            WHERE c.deleted_items = 'drop' AND NOT pg_has_role(k.relowner, 'USAGE'))) AS u (place, codes)
    HAVING count(*) > 0
$$;

COMMENT ON FUNCTION zbxhist_internal.check_seen() IS
'The part of check that says what the role which asks cannot see (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.check_seen() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.check_seen() TO PUBLIC;
