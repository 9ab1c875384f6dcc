-- sql/zabbix/auditlog.sql

-- Zabbix's audit log is partitioned natively by clock, because Zabbix reads and deletes its rows by
-- clock; expired partitions are dropped.  A unique key of a partitioned table must contain the partition
-- key, so the primary key becomes (auditid, clock), as Zabbix's manual says for partitioning.  The audit
-- log is neither routed nor packed.

-- Returns the policy of an audit log as that of a managed table, for functions that both use.
CREATE FUNCTION zbxhist_internal.auditlog_policy(config zbxhist.auditlog_config) RETURNS zbxhist.parent_config
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    policy zbxhist.parent_config;
BEGIN
    policy.parent := config.parent;
    policy.partition_interval := config.partition_interval;
    policy.premake := config.premake;
    RETURN policy;
END
$$;

-- Returns the unique index of an audit log that can become its primary key; NULL if there is none.
CREATE FUNCTION zbxhist_internal.auditlog_index(parent regclass) RETURNS regclass
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT x.indexrelid::regclass
      FROM pg_index x
     WHERE x.indrelid = auditlog_index.parent AND x.indisvalid
       AND zbxhist_internal.describe_index(x.indexrelid) IN ('PRIMARY KEY (auditid, clock)', 'unique btree (auditid, clock)')
     ORDER BY x.indisprimary DESC LIMIT 1
$$;

-- Raises an error unless a table is an audit log of Zabbix that can be partitioned.
CREATE FUNCTION zbxhist_internal.verify_auditlog(parent regclass) RETURNS void
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    -- for a larger table the index should be built concurrently
    most_bytes CONSTANT bigint := 256 * 1024 * 1024;
    relation   CONSTANT pg_class := (SELECT k FROM pg_class k WHERE k.oid = parent);
    bytes      CONSTANT bigint := pg_total_relation_size(parent);
    problem    text;
BEGIN
    problem := CASE
        WHEN relation.relkind <> 'r' OR relation.relpersistence <> 'p' OR relation.relispartition
             OR EXISTS (SELECT FROM pg_inherits i WHERE parent IN (i.inhrelid, i.inhparent)) THEN
            'It is not a plain table, nor partitioned by ranges of clock.'
        WHEN 2 <> (SELECT count(*) FROM pg_attribute a
                    WHERE a.attrelid = parent AND a.attnotnull AND NOT a.attisdropped
                      AND (a.attname = 'auditid' AND a.atttypid IN ('varchar'::regtype, 'text'::regtype)
                           OR a.attname = 'clock' AND a.atttypid = 'integer'::regtype)) THEN
            'It has no columns "auditid" and "clock" as Zabbix''s audit log has them.'
        WHEN EXISTS (SELECT FROM pg_index x
                      WHERE x.indrelid = parent AND x.indisunique
                        AND (NOT x.indisvalid OR zbxhist_internal.describe_index(x.indexrelid)
                             NOT IN ('PRIMARY KEY (auditid)', 'PRIMARY KEY (auditid, clock)', 'unique btree (auditid, clock)'))) THEN
            'It has another key than (auditid) or (auditid, clock), or a unique index that is not valid.'
        WHEN EXISTS (SELECT FROM pg_publication p WHERE p.puballtables)
             OR EXISTS (SELECT FROM pg_publication_namespace n WHERE n.pnnspid = relation.relnamespace) THEN
            'It is in a publication for all tables, whose subscribers would not have its partitions.'
        ELSE 'A new table in its place would not have ' || zbxhist_internal.attached_object(parent) || '.' END;
    PERFORM zbxhist_internal.refuse('55000', format('table %s cannot be partitioned', parent), detail => problem,
        hint => CASE WHEN parent IN (SELECT zbxhist_internal.hypertables())
                     THEN zbxhist_internal.migrate_command(format('SELECT zbxhist.release_hypertable(%L);', parent))
                     WHEN problem ~ 'publication for all' THEN 'Publish the other tables by their names instead.' END)
      WHERE problem IS NOT NULL;
    PERFORM zbxhist_internal.refuse('55000', format('table %s is too large, %s, to be locked while an index is made', parent, pg_size_pretty(bytes)),
        detail => 'The index is made while Zabbix writes, and becomes the primary key.',
        hint => format('CREATE UNIQUE INDEX CONCURRENTLY ON %s (auditid, clock);', parent))
      WHERE bytes > most_bytes AND zbxhist_internal.auditlog_index(parent) IS NULL;
END
$$;

-- Returns the default partition of an audit log; if there is none, creates it like "template".
CREATE FUNCTION zbxhist_internal.auditlog_others(parent regclass, template regclass) RETURNS regclass
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    relation CONSTANT pg_class := (SELECT k FROM pg_class k WHERE k.oid = parent);
    result   regclass := (SELECT nullif(t.partdefid, 0) FROM pg_partitioned_table t WHERE t.partrelid = parent);
    schema   regnamespace;
BEGIN
    IF result IS NULL THEN
        PERFORM zbxhist_internal.lock_patiently(parent);
        schema := zbxhist_internal.partition_schema(relation.relowner);
        result := zbxhist_internal.create_like(template, schema, zbxhist_internal.free_name(schema, relation.relname::text, '_others'));
        PERFORM zbxhist_internal.execute_as_owner(parent, format('ALTER TABLE %s ATTACH PARTITION %s DEFAULT', parent, result));
    END IF;
    RETURN result;
END
$$;

-- Attaches a table as a partition of an audit log.  It takes ACCESS EXCLUSIVE on the default partition,
-- moves rows of this range from there, and rows of other clocks there.
CREATE FUNCTION zbxhist_internal.attach_auditlog_partition(parent regclass, partition regclass, from_clock bigint, to_clock bigint)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    others CONSTANT regclass := zbxhist_internal.auditlog_others(parent, partition);
BEGIN
    PERFORM zbxhist_internal.lock_exclusively(others);
    PERFORM zbxhist_internal.execute_as_owner(parent, format(
                'WITH moved AS (DELETE FROM %s WHERE %s(clock >= %s AND clock < %s) RETURNING *) INSERT INTO %s SELECT * FROM moved',
                v.source, v.sign, from_clock, to_clock, v.target))
       FROM (VALUES (others, partition, ''), (partition, others, 'NOT ')) v (source, target, sign);
    PERFORM zbxhist_internal.execute_as_owner(parent, format(
        'ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (%s) TO (%s)', parent, partition,
        coalesce(nullif(from_clock, -2147483648)::text, 'MINVALUE'), coalesce(nullif(to_clock, 2147483648)::text, 'MAXVALUE')));
END
$$;

-- Creates a partition of an audit log.
CREATE FUNCTION zbxhist_internal.create_auditlog_partition(policy zbxhist.parent_config, from_clock bigint, to_clock bigint)
RETURNS regclass
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    new_name CONSTANT name :=
        zbxhist_internal.partition_name(policy.parent, policy.partition_interval, from_clock, to_clock);
    result   regclass;
BEGIN
    PERFORM zbxhist_internal.lock_patiently(policy.parent);
    result := zbxhist_internal.create_like(policy.parent, 'zbxhist_partitions', new_name);
    PERFORM zbxhist_internal.attach_auditlog_partition(policy.parent, result, from_clock, to_clock);
    RETURN result;
END
$$;

-- Puts a partitioned table in the place of an audit log.  The old table becomes the first partition, with
-- all its rows.  Takes ACCESS EXCLUSIVE on it.
CREATE FUNCTION zbxhist_internal.take_over_auditlog(parent regclass, partition_interval interval) RETURNS regclass
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET lock_timeout = 0
SET client_min_messages = warning AS $$
DECLARE
    relation CONSTANT pg_class := (SELECT k FROM pg_class k WHERE k.oid = parent);
    schema   CONSTANT regnamespace := relation.relnamespace;
    place    CONSTANT regnamespace := zbxhist_internal.partition_schema(relation.relowner);
    former   name;
    ready    regclass;
    whole    regclass;
BEGIN
    PERFORM zbxhist_internal.lock_all_or_none(ARRAY[parent]);
    -- once more: it may have changed before it was locked
    PERFORM zbxhist_internal.verify_auditlog(parent);
    former := (SELECT c.conname FROM pg_constraint c
                WHERE c.conrelid = parent AND c.contype = 'p' AND pg_get_constraintdef(c.oid) = 'PRIMARY KEY (auditid)');
    IF former IS NOT NULL THEN
        ready := zbxhist_internal.auditlog_index(parent);
        PERFORM zbxhist_internal.execute_as_owner(parent, format(
            'ALTER TABLE %s DROP CONSTRAINT %I, ADD CONSTRAINT %2$I PRIMARY KEY %s', parent, former,
            coalesce((SELECT format('USING INDEX %I', k.relname) FROM pg_class k WHERE k.oid = ready), '(auditid, clock)')));
    END IF;
    whole := zbxhist_internal.create_like(parent, schema,
        zbxhist_internal.free_name(schema, relation.relname, '_new'), 'RANGE (clock)');
    PERFORM zbxhist_internal.take_place(parent, whole,
        zbxhist_internal.free_name(place, relation.relname, '_old', schema));
    PERFORM zbxhist_internal.set_schema(parent, place::text);
    PERFORM zbxhist_internal.attach_auditlog_partition(whole, parent, -2147483648,
        (zbxhist_internal.clock_range(partition_interval, zbxhist_internal.current_clock())).to_clock);
    RETURN whole;
END
$$;

-- Partitions Zabbix's audit log by clock, in place (by default by month, with one partition ahead),
-- takes over one that is partitioned by clock, or changes its policy.  Maintenance then creates
-- partitions ahead and drops expired ones (retention NULL: the storage period set in Zabbix).
-- zbxhist.undo makes it a plain table again; dry_run only says what would be done.
CREATE FUNCTION zbxhist.partition_auditlog(
    parent regclass, retention interval DEFAULT NULL, partition_interval interval DEFAULT NULL,
    premake integer DEFAULT NULL, dry_run boolean DEFAULT false, accept_deletion boolean DEFAULT false,
    follow_zabbix boolean DEFAULT false) RETURNS TABLE (auditlog regclass, action text, detail text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET intervalstyle = postgres
SET lock_timeout = 0 AS $$
DECLARE
    former CONSTANT zbxhist.auditlog_config := (
        SELECT c FROM zbxhist.auditlog_config c WHERE c.parent = partition_auditlog.parent);
    months CONSTANT interval := date_trunc('month', partition_interval);
    policy zbxhist.auditlog_config := former;
    kept   record;
    lost   bigint;
    wanted record;
BEGIN
    IF parent IS NULL OR dry_run IS NULL OR accept_deletion IS NULL OR follow_zabbix IS NULL THEN
        PERFORM zbxhist_internal.refuse('22004', 'parent, dry_run, accept_deletion and follow_zabbix must not be null');
    ELSIF partition_interval NOT BETWEEN interval '1 day' AND interval '1 year'
          OR extract(epoch FROM partition_interval - months)::bigint % 86400 <> 0
          OR months > interval '0' AND partition_interval <> months
          OR premake NOT BETWEEN 0 AND 100 OR retention <= interval '0' OR retention > interval '200 years' THEN
        PERFORM zbxhist_internal.refuse('22023', 'partition_interval must be whole days or months up to a year, premake 0 to 100, retention up to 200 years');
    END IF;
    PERFORM zbxhist_internal.require_owner(parent);
    IF NOT dry_run AND former.parent IS NOT NULL THEN
        -- the lock of maintenance, see run_step
        PERFORM pg_advisory_xact_lock(zbxhist_internal.lock_class(), parent::oid::integer);
    END IF;
    policy.parent := parent;
    policy.partition_interval := coalesce(partition_interval, former.partition_interval, interval '1 month');
    policy.retention := CASE WHEN NOT follow_zabbix THEN coalesce(retention, former.retention) END;
    policy.premake := coalesce(premake, former.premake, 1);
    policy.created_at := coalesce(former.created_at, now());
    kept := zbxhist_internal.effective_retention(parent, policy.retention);
    PERFORM zbxhist_internal.refuse('55000', format('Zabbix deletes nothing of table %s, because its housekeeping of the audit log is off, but maintenance would drop what is older than %s', parent, kept.retention),
        hint => format('SELECT * FROM zbxhist.partition_auditlog(%L, accept_deletion => true%s);', parent,
                       CASE WHEN follow_zabbix THEN ', follow_zabbix => true' ELSE '' END))
      WHERE policy.retention IS NULL AND kept.retention IS NOT NULL AND (former.parent IS NULL OR former.retention IS NOT NULL)
        AND NOT accept_deletion AND NOT dry_run
        AND (zbxhist_internal.zabbix_setting((SELECT n.nspname FROM pg_class k JOIN pg_namespace n ON n.oid = k.relnamespace
                                                   WHERE k.oid = parent), 'hk_audit_mode')).value = '0';
    -- its first partition ends with the current period, so its expired rows go later
    lost := (SELECT sum(r.rows)
               FROM (SELECT parent AS relation UNION ALL SELECT i.inhrelid FROM pg_inherits i WHERE i.inhparent = parent) t
              CROSS JOIN LATERAL zbxhist_internal.rows_before(t.relation, zbxhist_internal.clock_before(kept.retention)) r);
    PERFORM zbxhist_internal.refuse('55000', 'values that are kept now would be deleted',
        detail => format('About %s rows of table %s are older than %s.  Nothing has been changed.', lost, parent, kept.retention),
        hint => 'To have them deleted, repeat the call with accept_deletion => true.')
      WHERE lost > 0 AND kept.source = 'policy' AND NOT accept_deletion AND NOT dry_run
        AND (former.parent IS NULL
             OR (zbxhist_internal.effective_retention(parent, former.retention)).retention > kept.retention IS NOT FALSE);
    auditlog := parent;
    IF former.parent IS NOT NULL THEN
        action := CASE WHEN policy = former THEN 'unchanged' ELSE 'alter' END;
        detail := format('partitions of %s, %s ahead', policy.partition_interval, policy.premake);
    ELSIF pg_get_partkeydef(parent) = 'RANGE (clock)' THEN
        PERFORM zbxhist_internal.verify_not_in_other_care(parent);
        action := 'adopt';
        detail := 'it is partitioned already';
    ELSE
        PERFORM zbxhist_internal.verify_auditlog(parent);
        action := 'partition';
        detail := format('its rows, about %s, %s, become the first partition', zbxhist_internal.probable_rows(parent),
                         pg_size_pretty(pg_total_relation_size(parent)));
        IF NOT dry_run THEN
            auditlog := zbxhist_internal.take_over_auditlog(parent, policy.partition_interval);
            policy.parent := auditlog;
        END IF;
    END IF;
    detail := detail || '; rows are kept ' || coalesce('for ever: ' || kept.problem, format('for %s (%s)', kept.retention, kept.source))
              || coalesce(format(', about %s are older', nullif(lost, 0)), '');
    RETURN NEXT;
    IF dry_run THEN
        RETURN;
    END IF;
    INSERT INTO zbxhist.auditlog_config VALUES (policy.*)
    ON CONFLICT ON CONSTRAINT auditlog_config_pkey DO UPDATE
       SET partition_interval = excluded.partition_interval, retention = excluded.retention, premake = excluded.premake;
    IF accept_deletion OR action = 'partition' THEN
        PERFORM zbxhist_internal.agree_to_deletion(auditlog, zbxhist_internal.clock_before(kept.retention), kept.retention);
    END IF;
    FOR wanted IN SELECT * FROM zbxhist_internal.wanted_ranges(zbxhist_internal.auditlog_policy(policy)) LOOP
        action := 'create';
        detail := zbxhist_internal.create_auditlog_partition(
            zbxhist_internal.auditlog_policy(policy), wanted.from_clock, wanted.to_clock);
        RETURN NEXT;
    END LOOP;
END
$$;

-- Step of maintenance on an audit log: gives a partition the right owner and schema, creates the next
-- partition, or drops an expired one, one action each time; at last deletes expired rows from the default
-- partition.
CREATE FUNCTION zbxhist_internal.step_auditlog(parent regclass) RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    policy CONSTANT zbxhist.parent_config := (
        SELECT zbxhist_internal.auditlog_policy(c) FROM zbxhist.auditlog_config c WHERE c.parent = step_auditlog.parent);
    owner  CONSTANT oid := (SELECT k.relowner FROM pg_class k WHERE k.oid = parent);
    cutoff bigint;
    item   record;
BEGIN
    IF policy.parent IS NULL THEN
        RETURN 'done';
    END IF;
    PERFORM zbxhist_internal.require_owner(parent);
    -- ALTER TABLE ... OWNER TO does not change partitions, and those taken over may be in any schema
    FOR item IN
        SELECT k.oid::regclass AS partition, k.oid::regclass::text AS label, k.relowner
          FROM pg_inherits i
          JOIN pg_class k ON k.oid = i.inhrelid
         WHERE i.inhparent = parent
           AND (k.relowner <> owner OR k.relnamespace IS DISTINCT FROM to_regnamespace('zbxhist_partitions'))
         ORDER BY k.relname LIMIT 1
    LOOP
        PERFORM zbxhist_internal.require_owner(item.partition);
        PERFORM zbxhist_internal.lock_exclusively(item.partition);
        IF item.relowner <> owner THEN
            PERFORM zbxhist_internal.give_to(item.partition, owner);
            PERFORM zbxhist_internal.log_action(parent, 'owner', item.label);
        ELSE
            PERFORM zbxhist_internal.set_schema(item.partition, zbxhist_internal.partition_schema(owner)::text);
            PERFORM zbxhist_internal.log_action(parent, 'align', item.label, message => 'schema');
        END IF;
        RETURN 'more';
    END LOOP;
    PERFORM zbxhist_internal.auditlog_others(parent, parent);
    FOR item IN SELECT * FROM zbxhist_internal.wanted_ranges(policy) LIMIT 1 LOOP
        PERFORM zbxhist_internal.log_action(parent, 'create',
            zbxhist_internal.create_auditlog_partition(policy, item.from_clock, item.to_clock)::text);
        RETURN 'more';
    END LOOP;
    PERFORM zbxhist_internal.note_deletion(parent);
    FOR item IN SELECT e.relation FROM zbxhist_internal.expired(parent) e LIMIT 1 LOOP
        -- DROP takes this lock on both
        PERFORM zbxhist_internal.lock_exclusively(parent);
        PERFORM zbxhist_internal.take_off(parent, item.relation, 'drop', NULL);
        RETURN 'more';
    END LOOP;
    cutoff := zbxhist_internal.deletion_clock(parent);
    IF cutoff IS NOT NULL THEN
        PERFORM zbxhist_internal.execute_as_owner(parent, format(
            'DELETE FROM %s WHERE clock < %s', zbxhist_internal.auditlog_others(parent, parent), cutoff));
    END IF;
    RETURN 'done';
END
$$;

-- Makes a partitioned audit log a plain table again: copies its rows under ACCESS EXCLUSIVE.
CREATE FUNCTION zbxhist_internal.undo_auditlog(parent regclass) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET lock_timeout = 0 AS $$
DECLARE
    relation CONSTANT pg_class := (SELECT k FROM pg_class k WHERE k.oid = parent);
    schema   CONSTANT regnamespace := relation.relnamespace;
    -- the oldest partition, which has the table's storage settings, comes first
    whole    CONSTANT regclass[] := parent || ARRAY(SELECT i.inhrelid::regclass FROM pg_inherits i WHERE i.inhparent = parent ORDER BY i.inhrelid);
    plain    regclass;
BEGIN
    PERFORM zbxhist_internal.require_owner(parent);
    PERFORM zbxhist_internal.lock_all_or_none(whole);
    PERFORM zbxhist_internal.refuse('55000', format('cannot make a plain table of %s', parent),
                detail => format('It would not have %s.', zbxhist_internal.attached_object(w)))
       FROM unnest(whole) w
      WHERE zbxhist_internal.attached_object(w) IS NOT NULL;
    plain := zbxhist_internal.create_like(parent, schema, zbxhist_internal.free_name(schema, relation.relname, '_new'));
    PERFORM zbxhist_internal.execute_as_owner(plain, format('INSERT INTO %s SELECT * FROM %s', plain, parent));
    PERFORM zbxhist_internal.take_place(parent, plain);
    DELETE FROM zbxhist.auditlog_config c WHERE c.parent = undo_auditlog.parent;
END
$$;

-- Part of check(): partitioned audit logs.
CREATE FUNCTION zbxhist_internal.check_auditlogs() RETURNS SETOF zbxhist_internal.check_line
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    policy record;
BEGIN
    RETURN QUERY
        SELECT 'error', 'auditlog_unknown', k.oid::regclass::text,
               'it is partitioned, but nothing creates its partitions, as after a restore of the configuration alone: Zabbix may fail to write to it',
               format('SELECT * FROM zbxhist.partition_auditlog(%L);', k.oid::regclass)
          FROM pg_class k
         WHERE k.relname = 'auditlog' AND pg_get_partkeydef(k.oid) = 'RANGE (clock)'
           AND k.relnamespace IN (SELECT p.relnamespace FROM zbxhist.parent_config c JOIN pg_class p ON p.oid = c.parent)
           AND zbxhist_internal.catalog_of('pg_partman', 'part_config') IS NULL
           AND NOT EXISTS (SELECT FROM zbxhist.auditlog_config c WHERE c.parent = k.oid);
    FOR policy IN
        SELECT c.*, n.nspname, r.retention AS kept, r.problem
          FROM zbxhist.auditlog_config c
          JOIN pg_class k ON k.oid = c.parent
          JOIN pg_namespace n ON n.oid = k.relnamespace
         CROSS JOIN zbxhist_internal.effective_retention(c.parent, c.retention) r
         ORDER BY n.nspname COLLATE "C"
    LOOP
        RETURN QUERY
            SELECT * FROM zbxhist_internal.check_maintenance(policy.parent)
             UNION ALL
            SELECT 'warning', 'no_current_partition', policy.parent::text,
                   'there is no partition for the current time: new rows go to the default partition', 'CALL zbxhist.run_maintenance();'
             WHERE NOT EXISTS (SELECT FROM zbxhist_internal.list_ranges(policy.parent) p
                                WHERE zbxhist_internal.current_clock() BETWEEN p.from_clock AND p.to_clock - 1)
             UNION ALL
            SELECT * FROM zbxhist_internal.check_deletion(policy.parent);
        IF policy.problem IS NOT NULL THEN
            RETURN QUERY SELECT 'warning', 'no_retention', policy.parent::text,
                format('nothing is ever dropped: %s.  If that is intended, run the command', policy.problem),
                format('SELECT * FROM zbxhist.partition_auditlog(%L, retention => ''100 years'');', policy.parent);
        END IF;
        IF (zbxhist_internal.zabbix_setting(policy.nspname, 'hk_audit_mode')).value = '1' THEN
            RETURN QUERY SELECT 'info', 'auditlog_housekeeping', policy.parent::text,
                'Zabbix''s housekeeper deletes row by row what zbxhist drops with its partition a little later',
                zbxhist_internal.setting_command(policy.nspname, 'hk_audit_mode', '0');
        END IF;
    END LOOP;
END
$$;
