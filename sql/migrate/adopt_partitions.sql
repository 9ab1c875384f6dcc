-- sql/migrate/adopt_partitions.sql

-- The policy of a natively partitioned table once it is taken over: that of setup, or of
-- create_parent, with the retention of pg_partman if Zabbix has none, and with what that does with
-- partitions past retention.
CREATE FUNCTION zbxhist_internal.adoption_policy(native regclass) RETURNS zbxhist.parent_config
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    source  record;
    partman record;
    policy  zbxhist.parent_config;
BEGIN
    SELECT n.nspname, z.is_trends INTO source
      FROM pg_class k
      JOIN pg_namespace n ON n.oid = k.relnamespace
      LEFT JOIN zbxhist_internal.zabbix_tables() z ON z.table_name = k.relname
     WHERE k.oid = native;
    IF source.is_trends IS NULL THEN
        policy.parent := native;
        policy.partition_interval := '1 day';
        policy.premake := 3;
        policy.move_existing := false;
    ELSE
        policy := zbxhist_internal.new_policy(native, source.is_trends,
            zbxhist_internal.merged_options(source.nspname, NULL::zbxhist.managed_schema, false));
    END IF;
    partman := zbxhist_internal.partman_entry(native);
    IF (zbxhist_internal.effective_retention(native, policy.retention)).retention IS NULL THEN
        policy.retention := partman.retention;
    END IF;
    policy.retention_action := partman.action;
    policy.retention_schema := partman.schema_name;
    PERFORM zbxhist_internal.verify_policy(policy);
    RETURN policy;
END
$$;

-- What of a natively partitioned table the next maintenance would take off or leave once it is
-- taken over, in words, and whether that is deleted.
-- What of a natively partitioned table the next maintenance would take off or leave once it is
-- taken over, in words, and whether that is deleted.
-- The rows of a default partition are counted: pg_partman has never deleted any, and
-- nobody has said that they may go.
CREATE FUNCTION zbxhist_internal.adoption_losses(native regclass) RETURNS TABLE (line text, is_lost boolean)
LANGUAGE plpgsql VOLATILE STRICT PARALLEL RESTRICTED ROWS 2 SET search_path = pg_catalog, pg_temp
SET intervalstyle = postgres AS $$
DECLARE
    policy CONSTANT zbxhist.parent_config := zbxhist_internal.adoption_policy(native);
    keeps  CONSTANT record := zbxhist_internal.new_retention(policy, NULL::zbxhist.parent_config, false);
    cutoff CONSTANT bigint := zbxhist_internal.clock_before(keeps.retention);
    detach CONSTANT boolean := policy.retention_action IS NOT DISTINCT FROM 'detach';
    place  regclass;
    found  text;
BEGIN
    is_lost := NOT detach;
    SELECT format('the next maintenance %s what is older than %s (%s): about %s rows, %s, %s, of %s to %s',
                  CASE WHEN detach THEN 'detaches' || coalesce(format(' into schema %I', policy.retention_schema), '')
                       ELSE 'deletes' END,
                  keeps.retention, keeps.source, sum(zbxhist_internal.probable_rows(p.partition)),
                  CASE count(*) WHEN 1 THEN 'a whole partition' ELSE count(*) || ' whole partitions' END,
                  pg_size_pretty(sum(pg_total_relation_size(p.partition))),
                  coalesce(zbxhist_internal.format_time(to_timestamp(min(p.from_clock))), 'the beginning'),
                  zbxhist_internal.format_time(to_timestamp(max(p.to_clock))))
      INTO line
      FROM zbxhist_internal.native_partitions(native) p
     WHERE p.to_clock <= cutoff
    HAVING count(*) > 0;
    IF line IS NOT NULL THEN
        RETURN NEXT;
    END IF;
    SELECT p.partition INTO place FROM zbxhist_internal.native_partitions(native) p WHERE p.is_default;
    IF place IS NULL OR cutoff IS NULL THEN
        RETURN;
    END IF;
    found := zbxhist_internal.execute_as_owner(place, format(
        'SELECT count(*) || '' '' || min(clock) || '' '' || max(clock) FROM ONLY %s WHERE clock < %s', place, cutoff));
    IF found IS NOT NULL THEN
        line := format('%s of the default partition %s that are older than %s (%s): %s, the oldest of %s, the newest of %s',
                       CASE WHEN detach THEN 'maintenance leaves the rows' ELSE 'the next maintenance deletes the rows' END,
                       place, keeps.retention, keeps.source, split_part(found, ' ', 1),
                       zbxhist_internal.format_time(to_timestamp(split_part(found, ' ', 2)::bigint)),
                       zbxhist_internal.format_time(to_timestamp(split_part(found, ' ', 3)::bigint)));
        RETURN NEXT;
    END IF;
END
$$;

-- The times up to now between the partitions of a natively partitioned table, in words; NULL if
-- there are none.
-- Days of local time leave an hour out where the clocks go forward, if somebody has
-- made each as long as the others.
CREATE FUNCTION zbxhist_internal.adoption_gaps(native regclass) RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT 'no partition has these times, rows of which stay in the table itself: '
           || string_agg(format('%s to %s', zbxhist_internal.format_time(to_timestamp(g.from_clock)),
                                zbxhist_internal.format_time(to_timestamp(g.to_clock))), ', ' ORDER BY g.from_clock)
      FROM (SELECT max(p.to_clock) OVER (ORDER BY p.from_clock ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS from_clock,
                   p.from_clock AS to_clock
              FROM zbxhist_internal.native_partitions(native) p WHERE NOT p.is_default) g
     WHERE g.from_clock < g.to_clock AND g.from_clock < zbxhist_internal.current_clock()
$$;

-- Takes a natively partitioned table into care, also out of that of pg_partman: its partitions stay
-- as they are, and a plain table takes the place of their parent; with dry_run only says what it
-- would do.
--
-- Until the exchange the table is what it was, but for a constraint of each
-- partition that says what its bounds say: the call may be broken off there,
-- and repeated.
CREATE PROCEDURE zbxhist.adopt_partitions(
    parent regclass, dry_run boolean DEFAULT false, accept_deletion boolean DEFAULT false)
LANGUAGE plpgsql AS $$
DECLARE
    partition pg_catalog.regclass;
    line      pg_catalog.text;
    answer    pg_catalog.text;
    found     pg_catalog.text[];
    lost      pg_catalog.text[];
    result    pg_catalog.regclass;
BEGIN
    CALL zbxhist_internal.next_transaction();
    PERFORM zbxhist_internal.refuse('22004', 'dry_run and accept_deletion must not be null')
      WHERE dry_run IS NULL OR accept_deletion IS NULL;
    PERFORM zbxhist_internal.verify_native(parent);
    SELECT array_agg(l.line), array_agg(l.line) FILTER (WHERE l.is_lost) INTO found, lost
      FROM zbxhist_internal.adoption_losses(parent) l;
    found := array_remove(found || zbxhist_internal.adoption_gaps(parent), NULL);
    IF dry_run THEN
        FOR line IN
            SELECT format('would take over %s partitions of table %s, %s, as they are; %s of them get the constraint zbxhist_clock first',
                          count(*), parent, pg_size_pretty(sum(pg_total_relation_size(p.partition))),
                          count(*) FILTER (WHERE NOT p.is_bounded))
              FROM zbxhist_internal.native_partitions(parent) p WHERE NOT p.is_default
             UNION ALL
            SELECT CASE WHEN zbxhist_internal.has_own_rows(p.partition, NULL)
                        THEN format('would make the default partition %s, with about %s rows, the table itself; maintenance moves them to partitions',
                                    p.partition, zbxhist_internal.probable_rows(p.partition))
                        ELSE format('would drop the default partition %s, which is empty', p.partition) END
              FROM zbxhist_internal.native_partitions(parent) p WHERE p.is_default
             UNION ALL
            SELECT format('would take the table out of %s%s', e.config,
                          CASE WHEN zbxhist_internal.is_partman_template(e.config, e.template, e.key)
                               THEN format(' and drop %s', e.template) ELSE '' END)
              FROM zbxhist_internal.partman_entry(parent) e WHERE e.config IS NOT NULL
             UNION ALL
            SELECT format('policy: %s', zbxhist_internal.describe_policy(zbxhist_internal.adoption_policy(parent)))
        LOOP
            RAISE NOTICE '%', line;
        END LOOP;
    ELSIF lost IS NOT NULL AND NOT accept_deletion THEN
        PERFORM zbxhist_internal.ask_consent(lost, false,
            format('CALL zbxhist.adopt_partitions(%L, accept_deletion => true);', parent));
    END IF;
    FOREACH line IN ARRAY coalesce(found, '{}') LOOP
        RAISE NOTICE '%', line;
    END LOOP;
    IF dry_run AND lost IS NOT NULL THEN
        RAISE NOTICE 'nothing is deleted unless the call says accept_deletion => true';
    END IF;
    IF NOT dry_run THEN
        FOREACH partition IN ARRAY ARRAY(SELECT p.partition FROM zbxhist_internal.native_partitions(parent) p
                                          WHERE NOT p.is_bounded AND NOT p.is_default)
        LOOP
            CALL zbxhist_internal.next_transaction();
            PERFORM zbxhist_internal.bound_partition(parent, partition);
        END LOOP;
        CALL zbxhist_internal.next_transaction();
        result := zbxhist_internal.exchange_parent(parent);
        CALL zbxhist_internal.next_transaction();
        CALL zbxhist_internal.repeat_step(result, 'premake', ARRAY[NULL::regclass], false, answer);
        CALL zbxhist_internal.do_step(result, 'align', answer);
        RAISE NOTICE 'table % is managed by zbxhist now, with its % partitions', result,
                     (SELECT count(*) FROM zbxhist.list_partitions(result));
    END IF;
    -- the session's own search_path again, for the caller's next statement
    COMMIT;
END
$$;
