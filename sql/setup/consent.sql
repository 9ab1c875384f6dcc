-- sql/setup/consent.sql

-- What the retention that setup introduces would delete: rows, by the next maintenance, and the values
-- of items with a longer storage period of their own.
CREATE FUNCTION zbxhist_internal.setup_losses(
    policies zbxhist.parent_config[], formers zbxhist.parent_config[], overridden boolean)
RETURNS TABLE (parent regclass, action text, detail text, wants_consent boolean)
LANGUAGE sql VOLATILE PARALLEL UNSAFE ROWS 9 SET search_path = pg_catalog, pg_temp SET intervalstyle = postgres AS $$
    WITH brought AS MATERIALIZED (
        SELECT i, (policies[i]).parent, k.*
          FROM generate_subscripts(policies, 1) i,
               zbxhist_internal.new_retention(policies[i], formers[i], overridden) k
         WHERE k.retention IS NOT NULL)
    (SELECT b.parent, 'delete',
            format('the next maintenance deletes what is older than %s (%s): %s', b.retention, b.source, d.lost),
            b.wants_consent OR b.source = 'policy'
       FROM brought b
      CROSS JOIN LATERAL zbxhist_internal.describe_deletion(b.parent, b.retention) AS d (lost)
      WHERE d.lost IS NOT NULL
      ORDER BY b.i)
    UNION ALL
    (SELECT NULL, 'cut_items',
            format('%s of items with a longer storage period of their own is cut to %s: %s', p.kind, p.retention,
                   coalesce(l.items || ' of them, or of templates', 'it is not known of how many')),
            p.wants_consent
       FROM (SELECT n.nspname, CASE WHEN z.is_trends THEN 'trends' ELSE 'history' END AS kind, b.retention,
                    bool_or(b.wants_consent) AS wants_consent
               FROM brought b
               JOIN pg_class t ON t.oid = b.parent
               JOIN pg_namespace n ON n.oid = t.relnamespace
               JOIN zbxhist_internal.zabbix_tables() z ON z.table_name = t.relname
              GROUP BY n.nspname, z.is_trends, b.retention) p
      CROSS JOIN LATERAL zbxhist_internal.longer_items(p.nspname, p.kind, p.retention) AS l (items)
      WHERE l.items IS DISTINCT FROM 0
      ORDER BY p.nspname, p.kind, p.retention)
$$;

-- Tells how much the next maintenance will delete by a policy.  Raises an error if it would delete
-- values that are kept now, unless that is accepted.
-- The policy must be written before, because one that detaches partitions deletes nothing.
CREATE FUNCTION zbxhist_internal.announce_deletion(policy zbxhist.parent_config, former zbxhist.parent_config, accepted boolean)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET intervalstyle = postgres AS $$
DECLARE
    keeps CONSTANT record := zbxhist_internal.effective_retention(policy.parent, policy.retention);
    lost  CONSTANT text := zbxhist_internal.describe_deletion(policy.parent, keeps.retention);
    kept  CONSTANT record := zbxhist_internal.effective_retention(former.parent, former.retention);
BEGIN
    -- if retention is unchanged, expired values go on being deleted without being asked about
    IF (former.parent, kept.retention, former.retention_action) IS DISTINCT FROM (policy.parent, keeps.retention, policy.retention_action) THEN
        PERFORM zbxhist_internal.refuse('55000', 'values that are kept now would be deleted',
            detail => format('The next maintenance would delete what is older than %s in table %s: %s.  Nothing has been changed.',
                             keeps.retention, policy.parent, lost),
            hint => 'To have them deleted, repeat the call with accept_deletion => true.')
          WHERE lost IS NOT NULL AND accepted IS NOT TRUE
            AND NOT coalesce(former.retention_action = 'drop' AND keeps.retention >= kept.retention, false);
        PERFORM zbxhist_internal.agree_to_retention(policy);
    END IF;
    IF lost IS NOT NULL THEN
        RAISE NOTICE 'the next maintenance deletes what is older than % in table %: %',
                     keeps.retention, policy.parent, lost;
    END IF;
END
$$;
