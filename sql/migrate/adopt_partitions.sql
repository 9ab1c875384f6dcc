-- sql/migrate/adopt_partitions.sql

-- Returns the policy of a table that is taken over from native partitioning or TimescaleDB: that of setup,
-- or of create_parent if it is not a table of Zabbix.
CREATE FUNCTION zbxhist_internal.adoption_policy(native regclass) RETURNS zbxhist.parent_config
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    source record;
    policy zbxhist.parent_config;
BEGIN
    SELECT n.nspname, z.is_trends INTO source
      FROM pg_class k
      JOIN pg_namespace n ON n.oid = k.relnamespace
      LEFT JOIN zbxhist_internal.zabbix_tables() z ON z.table_name = k.relname
     WHERE k.oid = native;
    IF source.is_trends IS NOT NULL THEN
        RETURN zbxhist_internal.new_policy(native, source.is_trends,
            zbxhist_internal.merged_options(source.nspname, NULL::zbxhist.managed_schema, false));
    END IF;
    policy.parent := native;
    policy.partition_interval := '1 day';
    policy.premake := 3;
    policy.move_existing := false;
    RETURN policy;
END
$$;

-- Describes gaps in the past between the partitions of a natively partitioned table; NULL if there are none.
-- For example, partitions of 24 hours by local time leave out an hour when daylight saving time begins.
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

-- Manages a natively partitioned table.  Its partitions stay as they are, and a plain table takes
-- the place of their parent.  With dry_run it only says what it would do.
--
-- Until the exchange the table stays as it was, except that each partition gets its bounds as a
-- constraint.  The call can be interrupted and repeated.
CREATE PROCEDURE zbxhist.adopt_partitions(
    parent regclass, dry_run boolean DEFAULT false, accept_deletion boolean DEFAULT false)
LANGUAGE plpgsql AS $$
DECLARE
    partition pg_catalog.regclass;
    line      pg_catalog.text;
    answer    pg_catalog.text;
    result    pg_catalog.regclass;
BEGIN
    CALL zbxhist_internal.next_transaction();
    PERFORM zbxhist_internal.refuse('22004', 'dry_run and accept_deletion must not be null')
      WHERE dry_run IS NULL OR accept_deletion IS NULL;
    PERFORM zbxhist_internal.verify_native(parent);
    FOR line IN
        SELECT format('would take over %s partitions of table %s, %s, as they are; %s of them get the constraint zbxhist_clock first',
                      count(*), parent, pg_size_pretty(sum(pg_total_relation_size(p.partition))),
                      count(*) FILTER (WHERE NOT p.is_bounded))
          FROM zbxhist_internal.native_partitions(parent) p WHERE NOT p.is_default
        HAVING dry_run
         UNION ALL
        SELECT format('would drop the default partition %s, which is empty', p.partition)
          FROM zbxhist_internal.native_partitions(parent) p WHERE p.is_default AND dry_run
         UNION ALL
        SELECT format('policy: %s', zbxhist_internal.describe_policy(zbxhist_internal.adoption_policy(parent))) WHERE dry_run
         UNION ALL
        SELECT g FROM zbxhist_internal.adoption_gaps(parent) g WHERE g IS NOT NULL
    LOOP
        RAISE NOTICE '%', line;
    END LOOP;
    PERFORM zbxhist_internal.announce_deletion(zbxhist_internal.adoption_policy(parent), NULL, accept_deletion OR dry_run);
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
    -- ends the transaction's search_path: the caller's next statement has the session's
    COMMIT;
END
$$;
