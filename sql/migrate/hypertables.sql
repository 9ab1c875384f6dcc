-- sql/migrate/hypertables.sql

-- Returns the name that a hypertable gets when a managed table takes its place; Zabbix's upgrade scripts
-- use the same suffix.
CREATE FUNCTION zbxhist_internal.former_name(parent regclass) RETURNS name
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT (k.relname || '_old')::name FROM pg_class k WHERE k.oid = parent
$$;

-- Raises an error unless a plain table can take the place of a hypertable.
CREATE FUNCTION zbxhist_internal.verify_hypertable(parent regclass) RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    schema CONSTANT regnamespace := (SELECT k.relnamespace FROM pg_class k WHERE k.oid = parent);
    former CONSTANT name := zbxhist_internal.former_name(parent);
    others CONSTANT regclass := (SELECT k.oid FROM pg_class k WHERE k.relnamespace = schema AND k.relname = former);
BEGIN
    PERFORM zbxhist_internal.refuse('22004', 'table must not be null')
      WHERE parent IS NULL;
    PERFORM zbxhist_internal.refuse('42809', format('table %s is not a hypertable of TimescaleDB', parent),
        hint => CASE WHEN others IN (SELECT zbxhist_internal.hypertables())
                     THEN format('CALL zbxhist.import(%L, %L);', others, parent)
                     WHEN EXISTS (SELECT FROM zbxhist.parent_config c WHERE c.parent = verify_hypertable.parent)
                     THEN 'SELECT * FROM zbxhist.status;'
                     ELSE format('SELECT zbxhist.create_parent(%L);', parent) END)
      WHERE parent NOT IN (SELECT zbxhist_internal.hypertables());
    PERFORM zbxhist_internal.require_owner(parent);
    PERFORM zbxhist_internal.verify_replaceable(parent);
    PERFORM zbxhist_internal.refuse('42P07', format('cannot rename table %s: table %s already exists', parent, others),
        hint => format('ALTER TABLE %s RENAME TO %I;', others, zbxhist_internal.free_name(schema, former)))
      WHERE others IS NOT NULL;
END
$$;

-- Replaces a hypertable by a plain table, with or without its rows, and renames the hypertable, or drops it
-- if no name is given.  The caller has locked it.
-- The index on clock that TimescaleDB adds is not copied: with partitions it is of no use.
CREATE FUNCTION zbxhist_internal.replace_hypertable(hypertable regclass, former_name name, with_rows boolean)
RETURNS regclass
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    schema  CONSTANT regnamespace := (SELECT k.relnamespace FROM pg_class k WHERE k.oid = hypertable);
    result  CONSTANT regclass := zbxhist_internal.create_like(
        hypertable, schema, zbxhist_internal.free_name(schema, 'zbxhist_adopted'));
    columns CONSTANT text := (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) FROM pg_attribute a
                               WHERE a.attrelid = hypertable AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '');
    query   CONSTANT text := format('SELECT %s FROM %%s', columns);
BEGIN
    PERFORM zbxhist_internal.execute_as_owner(result, format('DROP INDEX %s', x.indexrelid::regclass))
       FROM pg_index x
      WHERE x.indrelid = result AND zbxhist_internal.describe_index(x.indexrelid) = 'btree (clock DESC)';
    IF with_rows THEN
        PERFORM zbxhist_internal.execute_as_owner(result, format('INSERT INTO %s (%s) %s', result, columns, format(query, hypertable)));
        PERFORM zbxhist_internal.refuse('XX001', format('the copy of table %s has other rows', hypertable))
          WHERE zbxhist_internal.checksum_rows(result, format(query, hypertable))
                IS DISTINCT FROM zbxhist_internal.checksum_rows(result, format(query, result));
    END IF;
    PERFORM zbxhist_internal.take_place(hypertable, result, former_name);
    RETURN result;
END
$$;

-- Replaces a hypertable by an empty managed table, renames the hypertable, and returns the new table.
-- Takes ACCESS EXCLUSIVE; all is done in one transaction, so an INSERT that waits goes to the new table.
CREATE FUNCTION zbxhist_internal.exchange_hypertable(hypertable regclass) RETURNS regclass
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET lock_timeout = 0 AS $$
DECLARE
    policy  zbxhist.parent_config;
    waited  interval;
    locked  timestamptz;
    result  regclass;
BEGIN
    PERFORM pg_advisory_xact_lock(zbxhist_internal.lock_class(), hypertable::oid::integer);
    PERFORM zbxhist_internal.verify_hypertable(hypertable);
    PERFORM zbxhist_internal.verify_columns(hypertable);
    policy := zbxhist_internal.adoption_policy(hypertable);
    waited := zbxhist_internal.lock_all_or_none(ARRAY[hypertable]);
    locked := clock_timestamp();
    PERFORM zbxhist_internal.verify_hypertable(hypertable);
    result := zbxhist_internal.replace_hypertable(hypertable, zbxhist_internal.former_name(hypertable), false);
    PERFORM zbxhist_internal.begin_adopted(result, policy, hypertable::text, waited,
        format('in the place of a hypertable, locked for %s ms', ceil(extract(epoch FROM clock_timestamp() - locked) * 1000)));
    RETURN result;
END
$$;

-- Replaces a TimescaleDB hypertable by an empty managed table, and renames it with the suffix _old, to be
-- imported then; with dry_run only says what it would do.
CREATE PROCEDURE zbxhist.adopt_hypertable(hypertable regclass, dry_run boolean DEFAULT false)
LANGUAGE plpgsql AS $$
DECLARE
    answer pg_catalog.text;
    result pg_catalog.regclass;
BEGIN
    CALL zbxhist_internal.next_transaction();
    PERFORM zbxhist_internal.refuse('22004', 'dry_run must not be null')
      WHERE dry_run IS NULL;
    PERFORM zbxhist_internal.verify_hypertable(hypertable);
    PERFORM zbxhist_internal.verify_columns(hypertable);
    IF dry_run THEN
        RAISE NOTICE 'would rename hypertable %, of % chunks, to % and put an empty table in its place, managed by zbxhist', hypertable,
                     (SELECT count(*) FROM pg_inherits i WHERE i.inhparent = hypertable),
                     quote_ident(zbxhist_internal.former_name(hypertable));
        RAISE NOTICE 'policy: %', zbxhist_internal.describe_policy(zbxhist_internal.adoption_policy(hypertable));
    ELSE
        result := zbxhist_internal.exchange_hypertable(hypertable);
        CALL zbxhist_internal.next_transaction();
        CALL zbxhist_internal.repeat_step(result, 'premake', ARRAY[NULL::regclass], false, answer);
        RAISE NOTICE 'table % is managed by zbxhist now; existing rows are in hypertable %', result, hypertable
            USING HINT = format('CALL zbxhist.import(%L, %L);', hypertable, result);
    END IF;
    -- ends the transaction's search_path: the caller's next statement has the session's
    COMMIT;
END
$$;

-- Turns a TimescaleDB hypertable into a plain table, by copying its rows while it is locked, and returns
-- it.
--
-- For auditlog, a hypertable of Zabbix that zbxhist does not manage.
CREATE FUNCTION zbxhist.release_hypertable(hypertable regclass) RETURNS regclass
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET lock_timeout = 0 AS $$
BEGIN
    PERFORM zbxhist_internal.verify_hypertable(hypertable);
    PERFORM zbxhist_internal.lock_all_or_none(ARRAY[hypertable]);
    RETURN zbxhist_internal.replace_hypertable(hypertable, NULL, true);
END
$$;

-- Part of check(): what is left to do to remove TimescaleDB, in this order; check_migrations has the first
-- step.
CREATE FUNCTION zbxhist_internal.check_timescaledb()
RETURNS TABLE (step integer, severity text, code text, object text, message text, hint text)
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
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
        CONTINUE WHEN NOT place.is_managed;
        setting := zbxhist_internal.zabbix_setting(place.nspname, 'db_extension');
        IF setting.value = 'timescaledb' AND place.waiting IS NULL THEN
            RETURN QUERY SELECT 2, 'warning', 'hypertable_setting', setting.source,
                'Zabbix''s housekeeper takes its tables for hypertables, and would drop and compress chunks that do not exist any more',
                CASE WHEN setting.source LIKE 'config.%'
                     THEN format('UPDATE %I.config SET db_extension = %L, compression_status = 0;', place.nspname, '')
                     ELSE format('UPDATE %I.settings SET value_str = CASE name WHEN %L THEN %L ELSE value_str END,'
                                 ' value_int = CASE name WHEN %L THEN 0 ELSE value_int END WHERE name IN (%2$L, %4$L);',
                                 place.nspname, 'db_extension', '', 'compression_status') END;
        END IF;
        RETURN QUERY
            SELECT 3, 'warning', 'hypertable_old', o.oid::regclass::text,
                   CASE WHEN i.is_done THEN format('all its rows have been imported into table %s and compared%s', k.oid::regclass,
                                                    CASE WHEN i.left_out > 0 THEN format(', except %s whose key existed there, with the same values or others.  The command deletes these for good', i.left_out)
                                                         ELSE ': it is no longer needed' END)
                        ELSE format('its rows are to be imported into table %s%s', k.oid::regclass,
                                    CASE WHEN i.parts > 0 THEN format(': %s of %s parts are done', i.done, i.parts) END) END,
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
    END LOOP;
    RETURN QUERY
        SELECT 5, 'warning', 'timescaledb', 'timescaledb',
               'the extension timescaledb is installed: Zabbix 7.0 and later then writes trends with INSERT ... ON CONFLICT, which a table of zbxhist may refuse.  Drop it if nothing else in this database needs it, and restart the Zabbix server.  The extension''s owner or a superuser can run the command',
               'DROP EXTENSION timescaledb;'
          FROM pg_extension e
         WHERE e.extname = 'timescaledb'
           AND EXISTS (SELECT FROM zbxhist.parent_config c JOIN pg_class k ON k.oid = c.parent
                        WHERE k.relname IN ('trends', 'trends_uint'));
END
$$;
