-- sql/check/check_timescaledb.sql
--
-- What is left to do when TimescaleDB is left, in this order.

CREATE FUNCTION zbxhist_internal.check_timescaledb()
RETURNS TABLE (step integer, severity text, code text, object text, message text, hint text)
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    hypertables CONSTANT regclass[] := ARRAY(SELECT zbxhist_internal.hypertables());
    place       record;
    setting     record;
BEGIN
    FOR place IN
        SELECT n.oid AS schema, n.nspname,
               array_agg(k.oid::regclass ORDER BY z.ordinal) FILTER (WHERE k.oid = ANY (hypertables)) AS waiting,
               bool_or(c.parent IS NOT NULL) AS is_managed
          FROM zbxhist_internal.zabbix_tables() z
          JOIN pg_class k ON k.relname = z.table_name AND k.relkind = 'r'
          JOIN pg_namespace n ON n.oid = k.relnamespace
          LEFT JOIN zbxhist.parent_config c ON c.parent = k.oid
         GROUP BY n.oid, n.nspname
         ORDER BY n.nspname
    LOOP
        RETURN QUERY
            SELECT 1, 'warning', 'hypertable', h::text,
                   'it is a hypertable of TimescaleDB, which zbxhist does not manage.  The command puts an empty managed table in its place, into which it is imported then',
                   format('CALL zbxhist.adopt_hypertable(%L);', h)
              FROM unnest(place.waiting) h;
        CONTINUE WHEN NOT place.is_managed;
        setting := zbxhist_internal.zabbix_setting(place.nspname, 'db_extension');
        IF setting.value = 'timescaledb' AND place.waiting IS NULL THEN
            RETURN QUERY SELECT 2, 'warning', 'hypertable_setting', setting.source,
                'Zabbix''s housekeeper takes its tables for hypertables, and would have TimescaleDB drop and compress chunks that they have not any more',
                zbxhist_internal.timescaledb_command(place.nspname);
        END IF;
        RETURN QUERY
            SELECT 3, 'warning', 'hypertable_old', o.oid::regclass::text,
                   CASE WHEN i.is_done THEN format('all its rows have been imported into table %s and compared%s', k.oid::regclass,
                                                    CASE WHEN i.left_out > 0 THEN format(', but %s whose key was there already, with these values or others.  What the command drops is nowhere else then', i.left_out)
                                                         ELSE ': it is not needed any more' END)
                        ELSE format('its rows are to be imported into table %s%s', k.oid::regclass,
                                    CASE WHEN i.parts > 0 THEN format(': %s of %s parts are there', i.done, i.parts) END) END,
                   CASE WHEN i.is_done THEN format('DROP TABLE %s;', o.oid::regclass)
                        ELSE format('CALL zbxhist.import(%L, %L);', o.oid::regclass, k.oid::regclass) END
              FROM zbxhist.parent_config c
              JOIN pg_class k ON k.oid = c.parent AND k.relnamespace = place.schema
              JOIN pg_class o ON o.relnamespace = k.relnamespace AND o.relname = zbxhist_internal.former_name(k.oid)
                             AND o.oid = ANY (hypertables)
             CROSS JOIN LATERAL (
                   SELECT count(*) AS parts, count(s.done_at) AS done,
                          sum(s.rows_read - s.rows_stored) AS left_out,
                          count(s.compared_at) = count(*)
                          AND (count(*) > 0 OR NOT EXISTS (SELECT FROM pg_inherits h WHERE h.inhparent = o.oid)) AS is_done
                     FROM zbxhist.import_slice s WHERE s.parent = k.oid AND s.source = o.oid) i;
        RETURN QUERY
            SELECT 4, 'warning', 'hypertable_other', k.oid::regclass::text,
                   'Zabbix''s script for TimescaleDB has made it a hypertable.  The command makes it a plain table again, in which Zabbix''s housekeeper deletes what is too old',
                   format('SELECT zbxhist.release_hypertable(%L);', k.oid::regclass)
              FROM pg_class k
             WHERE k.relnamespace = place.schema AND k.relname = 'auditlog' AND k.oid = ANY (hypertables);
        RETURN QUERY
            SELECT 6, 'info', 'hypertable_function', p.oid::regprocedure::text,
                   'Zabbix has made it for TimescaleDB, which is gone', format('DROP FUNCTION %s;', p.oid::regprocedure)
              FROM pg_proc p
             WHERE p.pronamespace = place.schema AND p.proname IN ('zbx_ts_unix_now', 'cuid_timestamp', 'base36_decode')
               AND NOT EXISTS (SELECT FROM pg_extension e WHERE e.extname = 'timescaledb');
    END LOOP;
    RETURN QUERY
        SELECT 5, 'warning', 'timescaledb', 'timescaledb',
               'the extension timescaledb is installed: Zabbix 7.0 and later then writes trends with INSERT ... ON CONFLICT, which a table of zbxhist may refuse.  Drop it if nothing else in this database needs it, and restart the Zabbix server',
               'DROP EXTENSION timescaledb;'
          FROM pg_extension e
         WHERE e.extname = 'timescaledb'
           AND EXISTS (SELECT FROM zbxhist.parent_config c JOIN pg_class k ON k.oid = c.parent
                        WHERE k.relname IN ('trends', 'trends_uint'));
END
$$;

COMMENT ON FUNCTION zbxhist_internal.check_timescaledb() IS
'The part of check that says what is left of TimescaleDB, in the order in which it is to be removed (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.check_timescaledb() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.check_timescaledb() TO PUBLIC;
