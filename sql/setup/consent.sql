-- sql/setup/consent.sql

-- What is lost by the retention that setup brings: rows that the next maintenance deletes, and
-- storage periods of items that are longer.
CREATE FUNCTION zbxhist_internal.setup_losses(
    policies zbxhist.parent_config[], formers zbxhist.parent_config[], overridden boolean)
RETURNS TABLE (parent regclass, action text, detail text, wants_consent boolean)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE ROWS 9 SET search_path = pg_catalog, pg_temp SET intervalstyle = postgres AS $$
DECLARE
    brought record;
    longer  record;
BEGIN
    action := 'delete';
    FOR brought IN
        SELECT p.parent, k.*, zbxhist_internal.describe_deletion(p.parent, k.retention) AS lost
          FROM generate_subscripts(policies, 1) i,
               LATERAL (SELECT (policies[i]).parent) p,
               zbxhist_internal.new_retention(policies[i], formers[i], overridden) k
         ORDER BY i
    LOOP
        CONTINUE WHEN brought.lost IS NULL;
        parent := brought.parent;
        detail := format('the next maintenance deletes what is older than %s (%s): %s',
                         brought.retention, brought.source, brought.lost);
        wants_consent := brought.wants_consent OR brought.source = 'policy';
        RETURN NEXT;
    END LOOP;
    parent := NULL;
    action := 'cut_items';
    FOR brought IN
        SELECT n.nspname AS zabbix, k.retention, bool_or(k.wants_consent) AS wants_consent,
               array_agg(t.relname) AS table_names,
               CASE WHEN z.is_trends THEN 'trends' ELSE 'history' END AS kind
          FROM generate_subscripts(policies, 1) i
          JOIN pg_class t ON t.oid = (policies[i]).parent
          JOIN pg_namespace n ON n.oid = t.relnamespace
          JOIN zbxhist_internal.zabbix_tables() z ON z.table_name = t.relname
         CROSS JOIN LATERAL zbxhist_internal.new_retention(policies[i], formers[i], overridden) k
         WHERE k.retention IS NOT NULL
         GROUP BY n.nspname, z.is_trends, k.retention
         ORDER BY n.nspname, z.is_trends, k.retention
    LOOP
        longer := zbxhist_internal.longer_items(brought.zabbix, brought.table_names, brought.retention);
        wants_consent := brought.wants_consent;
        FOREACH detail IN ARRAY ARRAY[
            CASE WHEN longer.items > 0 THEN
                format('%s of items with a longer period of their own is cut to %s: %s of them, for example %s',
                       brought.kind, brought.retention, longer.items, longer.examples) END,
            CASE WHEN longer.unknown > 0 THEN
                format('%s of items with a user macro for their period, which is not known here, is cut to %s if that is less: %s of them',
                       brought.kind, brought.retention, longer.unknown) END,
            CASE WHEN longer.problem IS NOT NULL THEN
                format('%s of items with a longer period of their own is cut to %s: %s, so it is not known how many',
                       brought.kind, brought.retention, longer.problem) END]
        LOOP
            IF detail IS NOT NULL THEN
                RETURN NEXT;
            END IF;
        END LOOP;
    END LOOP;
END
$$;

-- Says how much the next maintenance will delete by a policy just written, warns if partitions are
-- long for its retention, and refuses, unless that is accepted, to have values deleted that are
-- kept now.
-- With the policy written: what detaches partitions deletes nothing.
CREATE FUNCTION zbxhist_internal.announce_deletion(policy zbxhist.parent_config, former zbxhist.parent_config, accepted boolean)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET intervalstyle = postgres AS $$
DECLARE
    keeps CONSTANT record := zbxhist_internal.effective_retention(policy.parent, policy.retention);
    lost  CONSTANT text := zbxhist_internal.describe_deletion(policy.parent, keeps.retention);
    kept  CONSTANT record := zbxhist_internal.effective_retention(former.parent, former.retention);
BEGIN
    -- what was past retention goes on to be deleted, whatever else is changed
    IF (former.parent, kept.retention, former.retention_action) IS DISTINCT FROM (policy.parent, keeps.retention, policy.retention_action) THEN
        PERFORM zbxhist_internal.refuse('55000', 'values that are kept now would be deleted',
            detail => format('The next maintenance would delete what is older than %s in table %s: %s.  Nothing has been changed.',
                             keeps.retention, policy.parent, lost),
            hint => 'To have them deleted, repeat the call with accept_deletion => true.')
          WHERE lost IS NOT NULL AND accepted IS NOT TRUE
            AND NOT coalesce(former.retention_action = 'drop' AND keeps.retention >= kept.retention, false);
        PERFORM zbxhist_internal.agree_to_retention(policy);
    END IF;
    IF policy.partition_interval > 2 * keeps.retention THEN
        RAISE WARNING 'table % keeps values for up to %, though its retention is %', policy.parent,
                      policy.partition_interval + keeps.retention, keeps.retention
            USING DETAIL = format('A partition is dropped when all of its %s are past retention.', policy.partition_interval),
                  HINT = format('SELECT zbxhist.alter_parent(%L, partition_interval => %L);', policy.parent,
                                CASE WHEN keeps.retention >= interval '2 days' THEN '1 day' ELSE '1 hour' END);
    END IF;
    IF lost IS NOT NULL THEN
        RAISE NOTICE 'the next maintenance deletes what is older than % in table %: %',
                     keeps.retention, policy.parent, lost;
    ELSIF policy.retention_action = 'detach' AND EXISTS (
            SELECT FROM zbxhist_internal.list_ranges(policy.parent) r
             WHERE r.to_clock <= zbxhist_internal.clock_before(keeps.retention)) THEN
        RAISE NOTICE 'the next maintenance detaches what is older than % from table %: %',
                     keeps.retention, policy.parent,
                     (SELECT zbxhist_internal.count_of(count(*) FILTER (WHERE NOT r.is_packed), 'partition') || ' and '
                             || zbxhist_internal.count_of(count(*) FILTER (WHERE r.is_packed), 'packed day')
                        FROM zbxhist_internal.list_ranges(policy.parent) r
                       WHERE r.to_clock <= zbxhist_internal.clock_before(keeps.retention));
    END IF;
END
$$;

-- Raises an error if setup would have something deleted, with the call that agrees to that; with
-- dry_run, only says so.
CREATE FUNCTION zbxhist_internal.ask_consent(losses text[], dry_run boolean, command text)
RETURNS TABLE (parent regclass, action text, detail text)
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF cardinality(losses) = 0 THEN
        RETURN;
    END IF;
    PERFORM zbxhist_internal.refuse('55000', 'values that are kept now would be deleted',
        detail => array_to_string(losses || 'To keep more, set longer periods in Zabbix first:'
                                            ' Administration, Housekeeping.  Nothing has been changed.'::text, E'\n'),
        hint => command)
      WHERE NOT dry_run;
    action := 'accept_deletion';
    detail := command;
    RETURN NEXT;
END
$$;
