-- sql/maintenance/parent_steps.sql

-- Deletes entries about dropped tables.
CREATE FUNCTION zbxhist_internal.forget_dropped() RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    notes text;
BEGIN
    FOREACH notes IN ARRAY '{parent_config,auditlog_config,packed_day,step_problem,lost_values}'::text[] LOOP
        EXECUTE format('DELETE FROM zbxhist.%I t WHERE NOT EXISTS (SELECT FROM pg_class k WHERE k.oid = t.parent)', notes);
    END LOOP;
    DELETE FROM zbxhist.import_slice i WHERE NOT EXISTS (SELECT FROM pg_class k WHERE k.oid = i.source);
    FOREACH notes IN ARRAY '{parent_state,partition_state,stray_mark,left_out,import_slice}'::text[] LOOP
        EXECUTE format('DELETE FROM zbxhist.%I t WHERE NOT EXISTS (SELECT FROM zbxhist.parent_config c WHERE c.parent = t.parent)', notes);
    END LOOP;
    DELETE FROM zbxhist.verified_day v WHERE NOT EXISTS (SELECT FROM zbxhist.packed_day d WHERE d.day = v.day);
END
$$;

-- Sets the times of a table that are in the future to the present: the server's clock was ahead, and what
-- is due some time after such a time would wait for it.
CREATE FUNCTION zbxhist_internal.end_future(parent regclass) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    place record;
BEGIN
    FOR place IN
        SELECT a.attrelid::regclass AS notes, a.attname AS name
          FROM pg_attribute a
         WHERE a.attrelid = ANY ('{zbxhist.parent_config,zbxhist.parent_state,zbxhist.partition_state,zbxhist.packed_day,zbxhist.verified_day,
                                   zbxhist.step_problem,zbxhist.left_out,zbxhist.archive_copy}'::regclass[])
           AND a.atttypid = 'timestamptz'::regtype
    LOOP
        EXECUTE format('UPDATE %s SET %I = now() WHERE parent = $1 AND %2$I > now()', place.notes, place.name) USING parent;
    END LOOP;
END
$$;

-- Step of maintenance: begins a run for one parent.  Notes in lost_values which values were lost with packed
-- days whose tables were dropped, and adds up left_out.
CREATE FUNCTION zbxhist_internal.step_begin(parent regclass) RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    policy CONSTANT zbxhist.parent_config := zbxhist_internal.require_parent(parent);
    unfit  record;
    gone   zbxhist.packed_day;
BEGIN
    PERFORM zbxhist_internal.end_future(s.parent)
       FROM zbxhist.parent_state s
      WHERE s.parent = step_begin.parent AND greatest(s.last_run, s.begun_at) > now();
    INSERT INTO zbxhist.parent_state (parent, begun_at, begun_pid)
    VALUES (parent, clock_timestamp(), pg_backend_pid())
    ON CONFLICT ON CONSTRAINT parent_state_pkey DO UPDATE
       SET failed = false, extended_to = NULL, begun_at = excluded.begun_at, begun_pid = excluded.begun_pid;
    PERFORM zbxhist_internal.set_action(parent, NULL, NULL);
    FOR gone IN
        DELETE FROM zbxhist.packed_day d
         WHERE d.parent = step_begin.parent
           AND NOT EXISTS (SELECT FROM pg_class k WHERE k.oid = d.day)
        RETURNING d.*
    LOOP
        -- the values of an unpacked day are in its partition
        CONTINUE WHEN gone.unpacked;
        INSERT INTO zbxhist.lost_values (parent, day, is_end, rows, problem)
        VALUES (parent, gone.day::oid::text, false, gone.nrows,
                format('its table, with the values from %s to %s, has been dropped',
                       zbxhist_internal.format_time(to_timestamp(gone.from_clock)),
                       zbxhist_internal.format_time(to_timestamp(gone.to_clock))));
        PERFORM zbxhist_internal.log_action(parent, 'lost', gone.day::oid::text, rows => gone.nrows,
            message => 'the table of a packed day has been dropped', started_at => clock_timestamp());
    END LOOP;
    -- adds the counts up to one row of each item and hour, kept for a day
    DELETE FROM zbxhist.left_out l
     WHERE l.parent = step_begin.parent AND l.noted_at < now() - interval '1 day';
    WITH note AS (
        DELETE FROM zbxhist.left_out l
         WHERE l.parent = step_begin.parent AND l.kept IS NULL
        RETURNING l.*)
    INSERT INTO zbxhist.left_out (parent, itemid, rows, first_clock, last_clock, noted_at)
    SELECT n.parent, n.itemid, sum(n.rows), min(n.first_clock), max(n.last_clock), date_trunc('hour', n.noted_at)
      FROM note n
     GROUP BY n.parent, n.itemid, date_trunc('hour', n.noted_at);
    PERFORM zbxhist_internal.note_deletion(parent);
    unfit := zbxhist_internal.why_unfit(parent);
    IF policy.routing AND unfit.problem IS NOT NULL THEN
        RAISE WARNING 'zbxhist: table % is skipped: %', parent, unfit.problem
            USING HINT = unfit.remedy;
        RETURN 'unfit';
    END IF;
    RETURN 'done';
END
$$;

-- Step of maintenance: begins to manage a new Zabbix table.
CREATE FUNCTION zbxhist_internal.step_take_up(parent regclass) RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    policy  zbxhist.parent_config;
    waited  interval;
BEGIN
    IF NOT EXISTS (SELECT FROM zbxhist_internal.new_tables() n WHERE n = parent) THEN
        RETURN 'done';
    END IF;
    SELECT (zbxhist_internal.new_policy(f.parent, f.is_trends, m)).* INTO STRICT policy
      FROM zbxhist.managed_schema m,
           zbxhist_internal.find_tables(m.schema_name) f
     WHERE f.parent = step_take_up.parent;
    PERFORM zbxhist_internal.adopt(policy);
    waited := zbxhist_internal.attach_triggers(ARRAY[parent]);
    PERFORM zbxhist_internal.log_action(parent, 'take_up', NULL, lock_wait => waited,
        message => zbxhist_internal.describe_policy(policy));
    RETURN 'done';
END
$$;

-- Step of maintenance: makes the owner of a managed table the owner of one of its partitions, packed days,
-- or its packed table.
-- ALTER TABLE ... OWNER TO does not change these.  Until then they can be read and written through the
-- parent, but are not maintained, because one owner's code would run with the other's rights.  If the role
-- that runs maintenance lacks the rights, check() says so.
CREATE FUNCTION zbxhist_internal.step_owner(parent regclass) RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    owner   CONSTANT oid := (SELECT k.relowner FROM pg_class k WHERE k.oid = parent);
    child   regclass;
    waited  interval;
BEGIN
    SELECT c INTO child
      FROM zbxhist_internal.foreign_children(parent) c
      JOIN pg_class k ON k.oid = c
     WHERE pg_has_role(k.relowner, 'USAGE')
     ORDER BY k.oid LIMIT 1;
    IF NOT FOUND THEN
        RETURN CASE WHEN EXISTS (SELECT FROM zbxhist_internal.foreign_children(parent)) THEN 'postponed' ELSE 'done' END;
    END IF;
    waited := zbxhist_internal.lock_exclusively(child);
    PERFORM zbxhist_internal.give_to(child, owner);
    PERFORM zbxhist_internal.invalidate(parent);
    PERFORM zbxhist_internal.log_action(parent, 'owner', child::text, lock_wait => waited);
    RETURN 'more';
END
$$;

-- Step of maintenance: creates missing routing triggers.
CREATE FUNCTION zbxhist_internal.step_trigger(parent regclass) RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    missing CONSTANT name[] := ARRAY(SELECT zbxhist_internal.missing_route_triggers(parent));
    waited  interval;
BEGIN
    IF missing = '{}' THEN
        RETURN 'done';
    END IF;
    waited := zbxhist_internal.attach_triggers(ARRAY[parent]);
    PERFORM zbxhist_internal.log_action(parent, 'trigger', NULL, lock_wait => waited, message => array_to_string(missing, ', '));
    RETURN 'done';
END
$$;

-- Step of maintenance: gives a partition the privileges of its parent, because GRANT changes only those of
-- the parent, and moves it to the schema of partitions, because one that was taken over may be in any.
CREATE FUNCTION zbxhist_internal.step_align(parent regclass, partition regclass) RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    label   CONSTANT text := partition::text;
    found   text[];
    waited  interval;
BEGIN
    -- another session may have done it, or dropped the partition
    SELECT zbxhist_internal.unlike(parent, p.partition) INTO found
      FROM zbxhist.list_partitions(parent) p
      JOIN pg_class k ON k.oid = p.partition
      JOIN pg_class source ON source.oid = step_align.parent AND source.relowner = k.relowner
     WHERE p.partition = step_align.partition;
    IF coalesce(found, '{}') = '{}' THEN
        RETURN 'done';
    END IF;
    -- GRANT itself locks no table, and a concurrent ALTER TABLE would fail
    IF 'schema' = ANY (found) THEN
        waited := zbxhist_internal.lock_exclusively(partition);
        PERFORM zbxhist_internal.set_schema(partition, zbxhist_internal.partition_schema(k.relowner)::text)
           FROM pg_class k WHERE k.oid = partition;
    ELSE
        PERFORM zbxhist_internal.lock_patiently(partition);
    END IF;
    IF 'privileges' = ANY (found) THEN
        PERFORM zbxhist_internal.clone_grants(parent, partition);
    END IF;
    PERFORM zbxhist_internal.refuse('55000', format('%s of partition %s cannot be made those of its parent',
        array_to_string(zbxhist_internal.unlike(parent, partition), ', '), partition))
      WHERE zbxhist_internal.unlike(parent, partition) <> '{}';
    PERFORM zbxhist_internal.invalidate(parent);
    PERFORM zbxhist_internal.log_action(parent, 'align', label, lock_wait => waited, message => array_to_string(found, ', '));
    RETURN 'done';
END
$$;

-- Step of maintenance: builds missing indexes of a partition.  Takes SHARE on it: readers do not wait, and
-- new rows stay in the parent meanwhile.
CREATE FUNCTION zbxhist_internal.step_index(parent regclass, partition regclass) RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    started CONSTANT timestamptz := clock_timestamp();
    waited  interval;
BEGIN
    -- another session may have done it, or dropped the partition
    IF NOT EXISTS (SELECT FROM zbxhist_internal.unindexed_partitions(parent, partition)) THEN
        RETURN 'done';
    END IF;
    PERFORM zbxhist_internal.lock_patiently(partition);
    PERFORM set_config('lock_timeout', zbxhist_internal.short_lock_timeout()::text, true);
    EXECUTE format('LOCK TABLE ONLY %s IN SHARE MODE', partition);
    waited := clock_timestamp() - started;
    PERFORM zbxhist_internal.clone_indexes(parent, partition);
    PERFORM zbxhist_internal.invalidate(parent);
    PERFORM zbxhist_internal.log_action(parent, 'index', partition::text, lock_wait => waited);
    RETURN 'done';
END
$$;

-- Step of maintenance: verifies a packed day and notes damage.
CREATE FUNCTION zbxhist_internal.step_inspect(parent regclass, day regclass) RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    problems bigint;
    first    text;
BEGIN
    -- it may have been dropped, or compacted with others
    IF NOT EXISTS (SELECT FROM zbxhist.packed_day d
                     JOIN pg_class k ON k.oid = d.day
                    WHERE d.parent = step_inspect.parent AND d.day = step_inspect.day) THEN
        RETURN 'done';
    END IF;
    SELECT count(*), min(v.problem) INTO problems, first FROM zbxhist_internal.verify_day(day) v;
    PERFORM zbxhist_internal.note_verified(parent, day, first);
    IF problems > 0 THEN
        RAISE WARNING 'zbxhist: packed day % is damaged: %', day, first;
        PERFORM zbxhist_internal.log_action(parent, 'inspect', day::text, rows => problems, sqlstate => 'XX001',
            message => first);
        RETURN 'failed';
    END IF;
    RETURN 'done';
END
$$;

-- Whether a table is due to be analyzed: a day was packed since the last ANALYZE, and that is six hours
-- ago or more.
-- Autovacuum analyzes partitions, but neither packed days nor a table together with its children.
CREATE FUNCTION zbxhist_internal.wants_analyze(parent regclass) RETURNS boolean
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN EXISTS (SELECT FROM zbxhist.parent_config c
                     JOIN zbxhist.packed_day d ON d.parent = c.parent
                    WHERE c.parent = wants_analyze.parent AND c.routing AND c.auto_analyze
                      AND least(d.packed_at, clock_timestamp() - interval '6 hours')
                          > coalesce(pg_stat_get_last_analyze_time(zbxhist_internal.packed_table(c.parent)), '-infinity'));
END
$$;

-- Step of maintenance: analyzes a table with packed days, so that the planner knows all its items.
-- Scans of the packed table use its own statistics; joins and groups use those of the parent with its
-- children.  ONLY, on versions whose ANALYZE would go on to the children, which have theirs already.
CREATE FUNCTION zbxhist_internal.step_analyze(parent regclass) RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    packed CONSTANT regclass := zbxhist_internal.packed_table(parent);
BEGIN
    IF NOT zbxhist_internal.wants_analyze(parent) THEN
        RETURN 'done';
    END IF;
    PERFORM zbxhist_internal.execute_as_owner(parent, format('ANALYZE %s%s',
                CASE WHEN current_setting('server_version_num')::integer >= 180000 THEN 'ONLY ' ELSE '' END, parent)),
            zbxhist_internal.execute_as_owner(packed, format('ANALYZE %s', packed));
    PERFORM zbxhist_internal.log_action(parent, 'analyze', NULL);
    RETURN 'done';
EXCEPTION WHEN data_corrupted OR index_corrupted THEN
    -- damage is reported elsewhere
    RETURN 'postponed';
END
$$;

-- Step of maintenance: ends a run for one parent and deletes old log entries.
CREATE FUNCTION zbxhist_internal.step_end(parent regclass) RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    present CONSTANT timestamptz := clock_timestamp();
BEGIN
    -- problems of steps that this run had no reason to try again
    DELETE FROM zbxhist.step_problem p USING zbxhist.parent_state s
     WHERE p.parent = step_end.parent AND s.parent = p.parent AND p.last_at < s.last_run;
    UPDATE zbxhist.parent_state s
       SET last_run = present,
           last_success = CASE WHEN s.failed THEN s.last_success ELSE present END,
           begun_pid = NULL, extended_to = NULL, action = NULL, relation = NULL, action_pid = NULL, action_started = NULL
     WHERE s.parent = step_end.parent;
    -- once a day, because it may take long; metrics() reads the result
    UPDATE zbxhist.parent_state s
       SET oldest_clock = zbxhist_internal.waiting_clock(step_end.parent, -2147483648, 2147483648, false), oldest_at = present
     WHERE s.parent = step_end.parent AND coalesce(s.oldest_at < present - interval '1 day', true)
       -- not of step_end.parent: a condition without columns is evaluated first
       AND (zbxhist_internal.why_unfit(s.parent)).problem IS NULL;
    DELETE FROM zbxhist.partition_state s
     WHERE s.parent = step_end.parent AND NOT EXISTS (SELECT FROM pg_class k WHERE k.oid = s.partition);
    DELETE FROM zbxhist.maintenance_log l
     WHERE l.started_at < present - interval '30 days'
       -- by the index; usually there is nothing to delete
       AND (SELECT min(m.started_at) FROM zbxhist.maintenance_log m) < present - interval '30 days';
    RETURN 'done';
END
$$;
