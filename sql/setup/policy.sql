-- sql/setup/policy.sql

-- Default of pack_after for partitions of some length.
CREATE FUNCTION zbxhist_internal.default_pack_after(partition_interval interval) RETURNS interval
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN partition_interval < interval '1 day' THEN interval '1 hour' ELSE interval '1 day' END
$$;

-- Returns the policy that setup gives a Zabbix table: partitions of an hour or as given for history, of
-- a month for trends.
CREATE FUNCTION zbxhist_internal.new_policy(parent regclass, is_trends boolean, options zbxhist.managed_schema)
RETURNS zbxhist.parent_config
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    policy zbxhist.parent_config;
BEGIN
    policy.parent := parent;
    policy.partition_interval := CASE WHEN is_trends THEN interval '1 month' END;
    policy := zbxhist_internal.changed_policy(policy, is_trends, options, options.pack_after IS NULL);
    PERFORM zbxhist_internal.verify_policy(policy);
    RETURN policy;
END
$$;

-- Returns the retention that setup introduces where there was none or a longer one, and whether
-- somebody must agree to it; NULLs if it introduces none.
-- A user who passes a period to setup knows it.  A period set in Zabbix by which nothing was deleted
-- before may be unknown to the user, who must then agree.
CREATE FUNCTION zbxhist_internal.new_retention(
    policy zbxhist.parent_config, former zbxhist.parent_config, overridden boolean, OUT retention interval,
    OUT source text, OUT wants_consent boolean)
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    keeps CONSTANT record :=
        zbxhist_internal.effective_retention(policy.parent, policy.retention, overridden);
    relation record;
BEGIN
    IF former.parent IS NOT NULL
       AND (zbxhist_internal.effective_retention(former.parent, former.retention)).retention <= keeps.retention THEN
        RETURN;
    END IF;
    retention := keeps.retention;
    source := keeps.source;
    SELECT n.nspname, CASE WHEN k.relname LIKE 'trends%' THEN 'hk_trends' ELSE 'hk_history' END AS option
      INTO relation
      FROM pg_class k JOIN pg_namespace n ON n.oid = k.relnamespace
     WHERE k.oid = policy.parent;
    wants_consent := policy.retention IS NULL
        AND NOT (former.parent IS NULL
                 AND coalesce((zbxhist_internal.zabbix_setting(relation.nspname, relation.option || '_mode')).value, '') = '1'
                 AND coalesce((zbxhist_internal.zabbix_setting(relation.nspname, relation.option || '_global')).value, '') = '1');
END
$$;

-- Returns the options of setup for new tables of a schema: those given now, else those given before,
-- else the defaults.
CREATE FUNCTION zbxhist_internal.merged_options(schema_name name, given zbxhist.managed_schema, never_pack boolean)
RETURNS zbxhist.managed_schema
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    kept   zbxhist.managed_schema;
    former interval;
BEGIN
    SELECT * INTO kept FROM zbxhist.managed_schema m
     WHERE m.schema_name = merged_options.schema_name;
    IF NOT FOUND THEN
        kept := ROW(schema_name, NULL, NULL, 3, '1 hour', false, '{}', '1 hour', NULL, NULL);
    END IF;
    former := kept.history_interval;
    kept := jsonb_populate_record(kept, jsonb_strip_nulls(to_jsonb(given)));
    kept.pack_after := CASE WHEN never_pack THEN NULL
                            WHEN given.pack_after IS NULL AND kept.pack_after = zbxhist_internal.default_pack_after(former)
                            THEN zbxhist_internal.default_pack_after(kept.history_interval)
                            ELSE kept.pack_after END;
    kept.excluded := '{}';
    RETURN kept;
END
$$;

-- Returns the policy of a managed table, changed by those options of setup that are given.
CREATE FUNCTION zbxhist_internal.changed_policy(
    former zbxhist.parent_config, is_trends boolean, given zbxhist.managed_schema, never_pack boolean)
RETURNS zbxhist.parent_config
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    policy zbxhist.parent_config := former;
BEGIN
    policy.retention := coalesce(CASE WHEN is_trends THEN given.trends_retention
                                      ELSE given.history_retention END, former.retention);
    policy.premake := coalesce(CASE WHEN is_trends THEN least(given.premake, 1)
                                    ELSE given.premake END, former.premake);
    IF NOT is_trends THEN
        policy.partition_interval := coalesce(given.history_interval, former.partition_interval);
    END IF;
    policy.pack_after := CASE WHEN never_pack THEN NULL
                              WHEN given.pack_after IS NOT NULL
                              THEN greatest(given.pack_after, CASE WHEN is_trends THEN interval '1 day' END)
                              WHEN former.pack_after = zbxhist_internal.default_pack_after(former.partition_interval)
                              THEN zbxhist_internal.default_pack_after(policy.partition_interval)
                              ELSE former.pack_after END;
    policy.move_existing := coalesce(given.move_existing, former.move_existing);
    policy.max_age := coalesce(given.max_age, former.max_age);
    policy.max_ahead := coalesce(given.max_ahead, former.max_ahead);
    RETURN policy;
END
$$;

-- Describes a policy for the output of setup; with "overridden", as if Zabbix overrode the storage
-- periods of items.
CREATE FUNCTION zbxhist_internal.describe_policy(policy zbxhist.parent_config, overridden boolean DEFAULT false) RETURNS text
LANGUAGE sql VOLATILE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET intervalstyle = postgres AS $$
    SELECT format('partitions of %s, %s%s ahead; %s%s%s; retention %s',
                  policy.partition_interval, policy.premake,
                  CASE WHEN zbxhist_internal.span_seconds(policy.partition_interval) IS NOT NULL
                       THEN CASE policy.premake WHEN 1 THEN ' day' ELSE ' days' END ELSE '' END,
                  coalesce('packed after ' || policy.pack_after, 'never packed'),
                  CASE WHEN policy.move_existing THEN '; existing rows moved to partitions' ELSE '' END,
                  concat('; values older than ' || policy.max_age || ' left out',
                         '; values more than ' || policy.max_ahead || ' ahead left out'),
                  coalesce(r.retention || ' (' || r.source || ')', 'none (' || r.problem || ')')
                  || CASE WHEN policy.partition_interval > 2 * r.retention
                          THEN format(', but values are kept for up to %s: a partition goes when all of it is past retention',
                                      policy.partition_interval + r.retention) ELSE '' END)
      FROM zbxhist_internal.effective_retention(policy.parent, policy.retention, overridden) r
$$;

-- Verifies and stores the policy of a managed table, and makes all sessions read it again.
CREATE FUNCTION zbxhist_internal.write_policy(policy zbxhist.parent_config) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM zbxhist_internal.verify_policy(policy);
    IF policy.premake = 0 AND EXISTS (SELECT FROM zbxhist.parent_config c WHERE c.parent = policy.parent AND c.premake > 0) THEN
        RAISE WARNING 'partitions of table % will no longer be created in advance', policy.parent
            USING DETAIL = 'New rows stay in the table itself from the end of each partition to the next maintenance, which moves them.',
                  HINT = format('SELECT zbxhist.alter_parent(%L, premake => 3);', policy.parent);
    END IF;
    UPDATE zbxhist.parent_config c
       SET (parent, partition_interval, retention, premake, pack_after, move_existing, routing, created_at, deleted_items,
            retention_action, retention_schema, time_precision, time_precision_after, max_age, max_ahead, out_of_range,
            packed_tablespace, packed_tablespace_after, archive_server, archive_after, auto_analyze, deleted_until, deleted_by)
           = ROW((policy).*)
     WHERE c.parent = policy.parent;
    -- sessions that insert have it in their cache
    PERFORM zbxhist_internal.invalidate(policy.parent);
END
$$;

-- Stores the policy of a table that is not managed yet, or whose undo is in progress.  Options that are
-- not given get the default, or stay.
CREATE FUNCTION zbxhist_internal.write_new_policy(policy zbxhist.parent_config) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    kept zbxhist.parent_config;
BEGIN
    INSERT INTO zbxhist.parent_config AS c (parent, partition_interval, premake)
    VALUES (policy.parent, policy.partition_interval, policy.premake)
    ON CONFLICT (parent) DO UPDATE SET routing = true WHERE NOT c.routing
    RETURNING c.* INTO kept;
    IF NOT FOUND THEN
        PERFORM zbxhist_internal.refuse('42710', format('table %s is already managed by zbxhist', policy.parent),
            hint => 'To change its policy, call zbxhist.alter_parent.');
    END IF;
    PERFORM zbxhist_internal.write_policy(jsonb_populate_record(NULL::zbxhist.parent_config,
                to_jsonb(kept) - '{retention,pack_after,max_age,max_ahead}'::text[] || jsonb_strip_nulls(to_jsonb(policy))));
END
$$;
