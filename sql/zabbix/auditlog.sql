-- sql/zabbix/auditlog.sql

-- Zabbix's auditlog has the key auditid alone, which begins with the time: a CUID is the
-- letter c, the milliseconds since 1970 as eight digits of base 36, then a counter and
-- noise (zbx_new_cuid of the server, CCuid of the frontend).  So a range of ids in the
-- order of bytes is a range of time, and the table is natively partitioned: its key is
-- the partition key, and what is as old as Zabbix's audit retention is dropped whole.
-- Neither routing nor packing has anything to do with it.

-- Audit logs of Zabbix that are partitioned, and their policy; change it with
-- zbxhist.partition_auditlog and undo.
CREATE TABLE zbxhist.auditlog_config (
    parent             regclass NOT NULL PRIMARY KEY,  -- the audit log
    -- time range of one partition: whole days aligned to 1970-01-01 UTC, or whole calendar months
    partition_interval interval NOT NULL,
    -- how long rows are kept; NULL follows the storage period of the audit log set in Zabbix
    retention          interval,
    premake            integer NOT NULL,  -- number of partitions kept ahead of the current one
    created_at         timestamptz NOT NULL DEFAULT pg_catalog.now()  -- when it was partitioned
);

SELECT pg_catalog.pg_extension_config_dump('zbxhist.auditlog_config',
    'WHERE EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = parent)');

CREATE TRIGGER require_owners BEFORE INSERT OR UPDATE ON zbxhist.auditlog_config
    FOR EACH ROW EXECUTE FUNCTION zbxhist_internal.require_owners();

-- The beginning of the first audit id that Zabbix can make at a clock.
CREATE FUNCTION zbxhist_internal.cuid_of(clock bigint) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT 'c' || string_agg(substr('0123456789abcdefghijklmnopqrstuvwxyz',
                                    (div(greatest(clock, 0)::numeric * 1000, 36::numeric ^ (8 - place)) % 36)::integer + 1, 1),
                             '' ORDER BY place)
      FROM generate_series(1, 8) place
$$;

-- The clock at which an audit id was made; NULL if it is none of Zabbix's.
CREATE FUNCTION zbxhist_internal.cuid_clock(cuid text) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT div(sum((strpos('0123456789abcdefghijklmnopqrstuvwxyz', substr(cuid, place + 1, 1)) - 1)
                   * 36::numeric ^ (8 - place)), 1000)::bigint
      FROM generate_series(1, 8) place
     WHERE cuid ~ '^c[0-9a-z]{8}'
$$;

-- The partitions of an audit log, oldest first, with the clocks of their ids, and last the one for
-- ids that are none of Zabbix's.
-- The partition for all other ids has no bounds.
CREATE FUNCTION zbxhist_internal.auditlog_partitions(parent regclass)
RETURNS TABLE (partition regclass, from_clock bigint, to_clock bigint)
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT k.oid::regclass, zbxhist_internal.cuid_clock(b.bounds[1]), zbxhist_internal.cuid_clock(b.bounds[2])
      FROM pg_inherits i
      JOIN pg_class k ON k.oid = i.inhrelid
     CROSS JOIN LATERAL regexp_match(pg_get_expr(k.relpartbound, k.oid),
                                     '^FOR VALUES FROM \(''([^'']*)''\) TO \(''([^'']*)''\)$') b (bounds)
     WHERE i.inhparent = auditlog_partitions.parent
     ORDER BY 2, k.oid
$$;

-- The partition of an audit log for ids that are none of Zabbix's; NULL if somebody has taken it
-- away.
CREATE FUNCTION zbxhist_internal.auditlog_others(parent regclass) RETURNS regclass
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT nullif(p.partdefid, 0)::regclass FROM pg_partitioned_table p WHERE p.partrelid = auditlog_others.parent
$$;

-- How long rows of an audit log are kept, where that is set, and why if nothing says so.
CREATE FUNCTION zbxhist_internal.auditlog_retention(
    parent regclass, policy_retention interval, OUT retention interval, OUT source text, OUT problem text)
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    period record;
BEGIN
    IF policy_retention IS NOT NULL THEN
        retention := policy_retention;
        source := 'policy';
        RETURN;
    END IF;
    period := zbxhist_internal.zabbix_setting(
        (SELECT n.nspname FROM pg_class k JOIN pg_namespace n ON n.oid = k.relnamespace WHERE k.oid = parent), 'hk_audit');
    retention := justify_hours(nullif(zbxhist_internal.parse_period(period.value), interval '0'));
    source := coalesce('zabbix: ' || period.source, 'none');
    IF retention IS NULL THEN
        problem := CASE WHEN period.source IS NULL THEN 'its schema has no Zabbix settings'
                        WHEN period.value IS NULL THEN format('cannot read %s', period.source) || coalesce(': ' || period.problem, '')
                        ELSE format('%s is "%s", which is not a period', period.source, period.value) END;
    END IF;
END
$$;

-- The ranges, from the present one on, for which an audit log wants a partition and has none.
CREATE FUNCTION zbxhist_internal.missing_auditlog_ranges(policy zbxhist.auditlog_config)
RETURNS TABLE (from_clock bigint, to_clock bigint)
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    clock bigint := zbxhist_internal.current_clock();
    range record;
BEGIN
    FOR ahead IN 0 .. policy.premake LOOP
        range := zbxhist_internal.clock_range(policy.partition_interval, clock);
        -- what another interval has left, or the table that was there, may reach into it
        from_clock := greatest(range.from_clock,
            (SELECT max(p.to_clock) FROM zbxhist_internal.auditlog_partitions(policy.parent) p
              WHERE p.from_clock < range.to_clock));
        to_clock := least(range.to_clock,
            (SELECT min(p.from_clock) FROM zbxhist_internal.auditlog_partitions(policy.parent) p
              WHERE p.from_clock >= missing_auditlog_ranges.from_clock));
        IF from_clock < to_clock THEN
            RETURN NEXT;
        END IF;
        EXIT WHEN range.to_clock > 2147483647;
        clock := range.to_clock;
    END LOOP;
END
$$;

-- What an audit log or a partition of it has that Zabbix's have not, and that keeps it from being
-- exchanged; NULL if nothing.
-- Also of a partition: what it is in the way of would be lost, or hide rows.
CREATE FUNCTION zbxhist_internal.auditlog_obstacle(relation regclass) RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE
        WHEN (SELECT k.relrowsecurity FROM pg_class k WHERE k.oid = relation)
             OR EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = relation)
             OR EXISTS (SELECT FROM pg_rewrite r WHERE r.ev_class = relation) THEN
            'has triggers, rules, foreign keys or row security'
        WHEN EXISTS (SELECT FROM pg_constraint c WHERE relation IN (c.conrelid, c.confrelid) AND c.contype NOT IN ('p', 'n')) THEN
            'has other constraints than its key'
        WHEN EXISTS (SELECT FROM pg_publication_rel p WHERE p.prrelid = relation)
             OR EXISTS (SELECT FROM pg_publication_namespace p JOIN pg_class k ON k.relnamespace = p.pnnspid WHERE k.oid = relation)
             OR EXISTS (SELECT FROM pg_publication p WHERE p.puballtables) THEN
            'is in a publication, whose subscribers would not have its partitions' END
$$;

-- The commands that take a table out of its publications; NULL if it is in none.  One for all tables
-- can leave none out.
CREATE FUNCTION zbxhist_internal.leave_publications(relation regclass) RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT string_agg(c.command, ' ' ORDER BY c.command)
      FROM (SELECT format('ALTER PUBLICATION %I DROP TABLE %s;', p.pubname, relation)
              FROM pg_publication_rel r JOIN pg_publication p ON p.oid = r.prpubid WHERE r.prrelid = relation
             UNION ALL
            SELECT format('ALTER PUBLICATION %I DROP TABLES IN SCHEMA %s;', p.pubname, k.relnamespace::regnamespace)
              FROM pg_publication_namespace s
              JOIN pg_publication p ON p.oid = s.pnpubid
              JOIN pg_class k ON k.relnamespace = s.pnnspid AND k.oid = relation
             UNION ALL
            SELECT format('DROP PUBLICATION %I;', p.pubname) FROM pg_publication p WHERE p.puballtables) c (command)
$$;

-- The columns of an audit log's primary key: (auditid), or what Zabbix's manual has those make it who
-- prepare it for partitions, (auditid, clock); NULL if it is another one.
CREATE FUNCTION zbxhist_internal.auditlog_key(parent regclass) RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT substring(pg_get_constraintdef(c.oid) FROM '^PRIMARY KEY [(](auditid(, clock)?)[)]$')
      FROM pg_constraint c WHERE c.conrelid = parent AND c.contype = 'p'
$$;

-- Raises an error unless a table is an audit log of Zabbix that can be partitioned and is the
-- caller's.
CREATE FUNCTION zbxhist_internal.verify_auditlog(parent regclass) RETURNS void
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    relation CONSTANT pg_class := (SELECT k FROM pg_class k WHERE k.oid = parent);
    problem  text;
BEGIN
    PERFORM zbxhist_internal.require_owner(parent);
    problem := CASE
        WHEN relation.relkind <> 'r' OR relation.relpersistence <> 'p' OR relation.relispartition
             OR EXISTS (SELECT FROM pg_inherits i WHERE parent IN (i.inhrelid, i.inhparent)) THEN
            'It is not a plain table.'
        WHEN 2 <> (SELECT count(*) FROM pg_attribute a
                    WHERE a.attrelid = parent AND a.attnotnull AND NOT a.attisdropped
                      AND (a.attname = 'auditid' AND a.atttypid IN ('varchar'::regtype, 'text'::regtype)
                           OR a.attname = 'clock' AND a.atttypid = 'integer'::regtype)) THEN
            'It has no columns "auditid" and "clock" as Zabbix''s audit log has them.'
        WHEN zbxhist_internal.auditlog_key(parent) IS NULL THEN
            'Its primary key is not (auditid) or (auditid, clock).'
        WHEN zbxhist_internal.auditlog_obstacle(parent) IS NOT NULL THEN
            format('It %s.', zbxhist_internal.auditlog_obstacle(parent))
        WHEN EXISTS (SELECT FROM pg_index x
                      WHERE x.indrelid = parent AND NOT x.indisprimary AND x.indisunique
                        AND x.indexrelid IS DISTINCT FROM zbxhist_internal.auditlog_index(parent)) THEN
            'It has other unique indexes, or one that is not valid.'
        ELSE zbxhist_internal.dependent_object(parent) || ' depends on it.' END;
    PERFORM zbxhist_internal.refuse('55000', format('table %s cannot be partitioned', parent), detail => problem,
        hint => CASE WHEN relation.relkind = 'r' AND parent IN (SELECT zbxhist_internal.hypertables())
                     THEN zbxhist_internal.migrate_command(format('SELECT zbxhist.release_hypertable(%L);', parent))
                     WHEN problem ~ 'publication' THEN zbxhist_internal.leave_publications(parent) END)
      WHERE problem IS NOT NULL;
END
$$;

-- The unique index of an audit log that has its ids in the order of bytes; NULL if there is none.
CREATE FUNCTION zbxhist_internal.auditlog_index(parent regclass) RETURNS regclass
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT x.indexrelid::regclass
      FROM pg_index x
      JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = x.indkey[0]
      JOIN pg_opclass o ON o.oid = x.indclass[0] AND o.opcdefault
      JOIN pg_index p ON p.indrelid = x.indrelid AND p.indisprimary AND p.indkey::text = x.indkey::text
     WHERE x.indrelid = auditlog_index.parent AND x.indisunique AND x.indisvalid AND NOT x.indisprimary
       AND x.indnatts = x.indnkeyatts AND x.indpred IS NULL AND 0 = ALL (x.indoption)
       AND a.attname = 'auditid' AND x.indcollation[0] = 'pg_catalog."C"'::regcollation
     LIMIT 1
$$;

-- Creates an empty table with the columns, comments, extended statistics, owner and privileges of
-- an audit log.
-- Everything that a partition is given when it is attached, or in CREATE TABLE, is not here.
CREATE FUNCTION zbxhist_internal.create_like_auditlog(parent regclass, schema regnamespace, new_name name, ending text)
RETURNS regclass
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET default_tablespace = '' AS $$
DECLARE
    source record;
    result regclass;
BEGIN
    SELECT t.spcname,
           -- a partitioned table can have none, its partitions have those of the first
           zbxhist_internal.format_options(coalesce(k.reloptions,
               (SELECT p.reloptions FROM pg_inherits i JOIN pg_class p ON p.oid = i.inhrelid
                 WHERE i.inhparent = k.oid ORDER BY p.oid LIMIT 1))) AS options INTO source
      FROM pg_class k
      LEFT JOIN pg_tablespace t ON t.oid = k.reltablespace
     WHERE k.oid = parent;
    PERFORM zbxhist_internal.execute_as_owner(parent, format(
        'CREATE TABLE %s.%I (LIKE %s INCLUDING DEFAULTS INCLUDING STORAGE INCLUDING COMPRESSION INCLUDING STATISTICS INCLUDING COMMENTS)%s%s%s',
        schema, new_name, parent, ending,
        CASE WHEN ending = '' THEN coalesce(' WITH (' || nullif(source.options, '') || ')', '') ELSE '' END,
        CASE WHEN source.spcname IS NOT NULL THEN format(' TABLESPACE %I', source.spcname) ELSE '' END));
    result := format('%s.%I', schema, new_name)::regclass;
    PERFORM zbxhist_internal.execute_as_owner(parent, format(
        'COMMENT ON TABLE %s IS %L', result, obj_description(parent, 'pg_class')));
    PERFORM zbxhist_internal.clone_grants(parent, result);
    RETURN result;
END
$$;

-- The partition of an audit log for ids that are none of Zabbix's, which is created like another
-- table if there is none.
CREATE FUNCTION zbxhist_internal.create_auditlog_others(parent regclass, template regclass) RETURNS regclass
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    relation CONSTANT pg_class := (SELECT k FROM pg_class k WHERE k.oid = parent);
    schema   regnamespace;
    result   regclass := zbxhist_internal.auditlog_others(parent);
BEGIN
    IF result IS NULL THEN
        PERFORM zbxhist_internal.lock_patiently(parent);
        schema := zbxhist_internal.partition_schema(relation.relowner);
        result := zbxhist_internal.create_like_auditlog(
            template, schema, zbxhist_internal.free_name(schema, relation.relname::text, '_others'), '');
        PERFORM zbxhist_internal.execute_as_owner(parent, format('ALTER TABLE %s ATTACH PARTITION %s DEFAULT', parent, result));
    END IF;
    RETURN result;
END
$$;

-- Makes a table a partition of an audit log; its rows and those of the partition for other ids go
-- where they belong.
-- Rows of its ids that came when it was not there are in the partition for other ids,
-- and the table that was there has other ids.
CREATE FUNCTION zbxhist_internal.attach_auditlog_partition(
    parent regclass, partition regclass, others regclass, from_clock bigint, to_clock bigint) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    first  CONSTANT text := zbxhist_internal.cuid_of(from_clock);
    ending CONSTANT text := zbxhist_internal.cuid_of(to_clock);
BEGIN
    PERFORM zbxhist_internal.lock_exclusively(others);
    PERFORM zbxhist_internal.execute_as_owner(parent, format(
                'WITH moved AS (DELETE FROM %s WHERE %s(auditid >= %L AND auditid < %L) RETURNING *) INSERT INTO %s SELECT * FROM moved',
                v.source, v.sign, first, ending, v.target))
       FROM (VALUES (others, partition, ''), (partition, others, 'NOT ')) v (source, target, sign);
    PERFORM zbxhist_internal.execute_as_owner(parent, format(
        'ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (%L) TO (%L)', parent, partition, first, ending));
END
$$;

-- Creates a partition of an audit log.
CREATE FUNCTION zbxhist_internal.create_auditlog_partition(parent regclass, from_clock bigint, to_clock bigint)
RETURNS regclass
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    policy CONSTANT zbxhist.auditlog_config := (
        SELECT c FROM zbxhist.auditlog_config c WHERE c.parent = create_auditlog_partition.parent);
    new_name name;
    others regclass;
    result regclass;
BEGIN
    PERFORM zbxhist_internal.lock_patiently(parent);
    others := zbxhist_internal.create_auditlog_others(parent, parent);
    new_name := zbxhist_internal.partition_name(parent, policy.partition_interval, from_clock, to_clock);
    result := zbxhist_internal.create_like_auditlog(parent, 'zbxhist_partitions', new_name, '');
    PERFORM zbxhist_internal.attach_auditlog_partition(parent, result, others, from_clock, to_clock);
    RETURN result;
END
$$;

-- Gives a table the indexes of an audit log, with their names, for which those give theirs up.
CREATE FUNCTION zbxhist_internal.create_auditlog_indexes(source regclass, target regclass) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    item record;
BEGIN
    FOR item IN
        SELECT n.nspname, i.relnamespace, i.relname, c.conname, substring(pg_get_indexdef(i.oid) FROM ' USING .*$') AS definition
          FROM pg_index x
          JOIN pg_class i ON i.oid = x.indexrelid
          JOIN pg_namespace n ON n.oid = i.relnamespace
          LEFT JOIN pg_constraint c ON c.conindid = i.oid AND c.contype = 'p'
         WHERE x.indrelid = source
         ORDER BY x.indisprimary DESC, i.relname
    LOOP
        -- Zabbix's upgrades drop and rename indexes by their names
        PERFORM zbxhist_internal.execute_as_owner(source, format('ALTER INDEX %I.%I RENAME TO %I', item.nspname, item.relname,
            zbxhist_internal.free_name(item.relnamespace, item.relname::text, '_old')));
        PERFORM zbxhist_internal.execute_as_owner(target, CASE
            WHEN item.conname IS NOT NULL THEN
                format('ALTER TABLE %s ADD CONSTRAINT %I PRIMARY KEY (%s)', target, item.relname, zbxhist_internal.auditlog_key(source))
            ELSE format('CREATE INDEX %I ON %s%s', item.relname, target, item.definition) END);
    END LOOP;
END
$$;

-- Puts a partitioned table in the place of an audit log, which becomes its first partition.
-- The table that is there becomes the first partition, with all its rows: the index
-- that has the ids in the order of bytes serves as its key, and nothing is written anew.
CREATE FUNCTION zbxhist_internal.take_over_auditlog(parent regclass, policy zbxhist.auditlog_config) RETURNS regclass
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET lock_timeout = 0
SET client_min_messages = warning AS $$
DECLARE
    schema   regnamespace;
    place    regnamespace;
    owner    oid;
    known_as name;
    key_name name;
    key_index name;
    whole    regclass;
BEGIN
    SELECT k.relnamespace, k.relowner, k.relname, c.conname INTO schema, owner, known_as, key_name
      FROM pg_class k
      JOIN pg_constraint c ON c.conrelid = k.oid AND c.contype = 'p'
     WHERE k.oid = parent;
    PERFORM zbxhist_internal.lock_with_patience(parent);
    -- what has changed until it was locked
    PERFORM zbxhist_internal.verify_auditlog(parent);
    IF zbxhist_internal.auditlog_index(parent) IS NULL THEN
        PERFORM zbxhist_internal.execute_as_owner(parent, format('CREATE UNIQUE INDEX ON %s (%s)', parent,
            replace(zbxhist_internal.auditlog_key(parent), 'auditid', 'auditid COLLATE "C"')));
    END IF;
    key_index := (SELECT i.relname FROM pg_class i WHERE i.oid = zbxhist_internal.auditlog_index(parent));
    PERFORM zbxhist_internal.execute_as_owner(parent, format(
        'ALTER TABLE %s DROP CONSTRAINT %I, ALTER COLUMN auditid TYPE %s COLLATE "C"', parent, key_name,
        (SELECT format_type(a.atttypid, a.atttypmod) FROM pg_attribute a
          WHERE a.attrelid = parent AND a.attname = 'auditid')));
    PERFORM zbxhist_internal.execute_as_owner(parent, format(
        'ALTER TABLE %s ADD CONSTRAINT %I PRIMARY KEY USING INDEX %I', parent, key_name, key_index));
    place := zbxhist_internal.partition_schema(owner);
    PERFORM zbxhist_internal.execute_as_owner(parent, format('ALTER TABLE %s RENAME TO %I', parent,
        zbxhist_internal.free_name(place, known_as::text, '_old', schema)));
    PERFORM zbxhist_internal.set_schema(parent, place::text);
    whole := zbxhist_internal.create_like_auditlog(parent, schema, known_as, ' PARTITION BY RANGE (auditid)');
    PERFORM zbxhist_internal.create_auditlog_indexes(parent, whole);
    PERFORM zbxhist_internal.attach_auditlog_partition(
        whole, parent, zbxhist_internal.create_auditlog_others(whole, parent), 0,
        (zbxhist_internal.clock_range(policy.partition_interval, zbxhist_internal.current_clock())).to_clock);
    RETURN whole;
END
$$;

-- Partitions Zabbix's audit log by time, in place (a month a partition, one ahead, if nothing is
-- said), or changes how; maintenance then makes partitions ahead and drops those past retention
-- (NULL: the storage period set in Zabbix).  zbxhist.undo takes it back; dry_run only says what it
-- would do.
CREATE FUNCTION zbxhist.partition_auditlog(
    parent regclass, retention interval DEFAULT NULL, partition_interval interval DEFAULT NULL,
    premake integer DEFAULT NULL, dry_run boolean DEFAULT false, accept_deletion boolean DEFAULT false,
    follow_zabbix boolean DEFAULT false) RETURNS TABLE (auditlog regclass, action text, detail text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET intervalstyle = postgres
SET lock_timeout = 0 AS $$
DECLARE
    -- an index of more is better made while Zabbix writes
    most_bytes CONSTANT bigint := 256 * 1024 * 1024;
    former     CONSTANT zbxhist.auditlog_config := (
        SELECT c FROM zbxhist.auditlog_config c WHERE c.parent = partition_auditlog.parent);
    months     CONSTANT interval := date_trunc('month', partition_interval);
    policy     zbxhist.auditlog_config;
    kept       record;
    missing    record;
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
        -- run_step's
        PERFORM pg_advisory_xact_lock(zbxhist_internal.lock_class(), parent::oid::integer);
    END IF;
    policy := (parent, coalesce(partition_interval, former.partition_interval, interval '1 month'),
               CASE WHEN follow_zabbix THEN NULL ELSE coalesce(retention, former.retention) END,
               coalesce(premake, former.premake, 1), coalesce(former.created_at, now()));
    kept := zbxhist_internal.auditlog_retention(parent, policy.retention);
    PERFORM zbxhist_internal.refuse('55000', format('Zabbix deletes nothing of table %s, for its housekeeping of the audit log is off, but maintenance would drop what is older than %s', parent, kept.retention),
        hint => format('SELECT * FROM zbxhist.partition_auditlog(%L, accept_deletion => true%s);', parent,
                       CASE WHEN follow_zabbix THEN ', follow_zabbix => true' ELSE '' END))
      WHERE policy.retention IS NULL AND kept.retention IS NOT NULL AND (former.parent IS NULL OR former.retention IS NOT NULL)
        AND NOT accept_deletion AND NOT dry_run
        AND (zbxhist_internal.zabbix_setting((SELECT n.nspname FROM pg_class k JOIN pg_namespace n ON n.oid = k.relnamespace
                                                   WHERE k.oid = parent), 'hk_audit_mode')).value = '0';
    auditlog := parent;
    IF former.parent IS NULL AND EXISTS (SELECT FROM pg_partitioned_table t
                                           JOIN pg_attribute a ON a.attrelid = t.partrelid AND a.attnum = t.partattrs[0] AND a.attname = 'auditid'
                                          WHERE t.partrelid = parent AND t.partstrat = 'r' AND t.partnatts = 1
                                            AND t.partcollation[0] = 'pg_catalog."C"'::regcollation) THEN
        action := 'adopt';
        detail := 'it is partitioned already, as by an earlier call';
    ELSIF former.parent IS NULL THEN
        PERFORM zbxhist_internal.verify_auditlog(parent);
        PERFORM zbxhist_internal.refuse('55000', format('table %s is too large, %s, to be locked while an index is made', parent, pg_size_pretty(pg_total_relation_size(parent))),
            detail => 'The index is made while Zabbix writes, and becomes the primary key.',
            hint => format('CREATE UNIQUE INDEX CONCURRENTLY ON %s (%s);', parent,
                           replace(zbxhist_internal.auditlog_key(parent), 'auditid', 'auditid COLLATE "C"')))
          WHERE pg_total_relation_size(parent) > most_bytes AND zbxhist_internal.auditlog_index(parent) IS NULL;
        action := 'partition';
        detail := format('its rows, about %s, %s, become the first partition', zbxhist_internal.probable_rows(parent),
                         pg_size_pretty(pg_total_relation_size(parent)));
        IF NOT dry_run THEN
            auditlog := zbxhist_internal.take_over_auditlog(parent, policy);
            policy.parent := auditlog;
        END IF;
    ELSE
        action := CASE WHEN policy = former THEN 'unchanged' ELSE 'alter' END;
        detail := format('partitions of %s, %s ahead', policy.partition_interval, policy.premake);
    END IF;
    detail := detail || format('; rows are kept %s', coalesce(format('for %s (%s)', kept.retention, kept.source), 'for ever: ' || kept.problem));
    RETURN NEXT;
    IF dry_run THEN
        RETURN;
    END IF;
    INSERT INTO zbxhist.auditlog_config VALUES (policy.*)
    ON CONFLICT ON CONSTRAINT auditlog_config_pkey DO UPDATE
       SET partition_interval = excluded.partition_interval, retention = excluded.retention, premake = excluded.premake;
    FOR missing IN SELECT * FROM zbxhist_internal.missing_auditlog_ranges(policy) LOOP
        action := 'create';
        detail := zbxhist_internal.create_auditlog_partition(policy.parent, missing.from_clock, missing.to_clock);
        RETURN NEXT;
    END LOOP;
END
$$;

-- Partitions of an audit log of which all ids are past retention; their rows' clocks may say
-- otherwise.
CREATE FUNCTION zbxhist_internal.expired_auditlog_partitions(parent regclass) RETURNS SETOF regclass
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT p.partition
      FROM zbxhist.auditlog_config c,
           zbxhist_internal.auditlog_retention(c.parent, c.retention) r,
           zbxhist_internal.auditlog_partitions(c.parent) p
     WHERE c.parent = expired_auditlog_partitions.parent
       AND p.to_clock <= zbxhist_internal.clock_before(r.retention)
$$;

-- Maintenance: gives a partition of an audit log to the owner that this has now, makes the next
-- one, or drops one that is past retention; of ids that are none of Zabbix's single rows.
-- Zabbix says when something happened by the clock; the id is when it was noted.
CREATE FUNCTION zbxhist_internal.step_auditlog(parent regclass) RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    policy    CONSTANT zbxhist.auditlog_config := (
        SELECT c FROM zbxhist.auditlog_config c WHERE c.parent = step_auditlog.parent);
    cutoff    CONSTANT bigint := zbxhist_internal.clock_before(
        (zbxhist_internal.auditlog_retention(parent, policy.retention)).retention);
    range     record;
    partition regclass;
    label     text;
    waited    interval;
    rows      bigint;
    bytes     bigint;
BEGIN
    IF policy.parent IS NULL THEN
        RETURN 'done';
    END IF;
    PERFORM zbxhist_internal.require_owner(parent);
    -- ALTER TABLE ... OWNER TO does not reach them
    FOR partition IN
        SELECT p.partition FROM zbxhist_internal.auditlog_partitions(parent) p JOIN pg_class k ON k.oid = p.partition
         WHERE k.relowner <> (SELECT w.relowner FROM pg_class w WHERE w.oid = parent)
         ORDER BY p.from_clock
    LOOP
        PERFORM zbxhist_internal.require_owner(partition);
        waited := zbxhist_internal.lock_exclusively(partition);
        PERFORM zbxhist_internal.give_to(partition, (SELECT k.relowner FROM pg_class k WHERE k.oid = parent));
        PERFORM zbxhist_internal.log_action(parent, 'owner', partition::text, lock_wait => waited);
        RETURN 'more';
    END LOOP;
    FOR partition, label IN
        SELECT p.partition, p.partition FROM zbxhist_internal.auditlog_partitions(parent) p JOIN pg_class k ON k.oid = p.partition
         WHERE k.relnamespace IS DISTINCT FROM to_regnamespace('zbxhist_partitions')
         ORDER BY p.from_clock
    LOOP
        waited := zbxhist_internal.lock_exclusively(partition);
        PERFORM zbxhist_internal.set_schema(partition, zbxhist_internal.partition_schema(k.relowner)::text)
           FROM pg_class k WHERE k.oid = partition;
        PERFORM zbxhist_internal.log_action(parent, 'align', label, lock_wait => waited, message => 'schema');
        RETURN 'more';
    END LOOP;
    PERFORM zbxhist_internal.create_auditlog_others(parent, parent);
    SELECT * INTO range FROM zbxhist_internal.missing_auditlog_ranges(policy) LIMIT 1;
    IF FOUND THEN
        partition := zbxhist_internal.create_auditlog_partition(parent, range.from_clock, range.to_clock);
        PERFORM zbxhist_internal.log_action(parent, 'create', partition::text);
        RETURN 'more';
    END IF;
    FOR partition IN SELECT e FROM zbxhist_internal.expired_auditlog_partitions(parent) e LOOP
        CONTINUE WHEN zbxhist_internal.has_auditlog_rows(partition, cutoff);
        -- DROP takes this lock on both
        waited := zbxhist_internal.lock_exclusively(parent);
        PERFORM zbxhist_internal.lock_exclusively(partition);
        CONTINUE WHEN zbxhist_internal.has_auditlog_rows(partition, cutoff);
        rows := zbxhist_internal.probable_rows(partition);
        bytes := pg_total_relation_size(partition);
        PERFORM zbxhist_internal.log_action(parent, 'drop', partition::text, rows => rows, bytes => bytes, lock_wait => waited);
        PERFORM zbxhist_internal.execute_as_owner(parent, format('DROP TABLE %s', partition));
        RETURN 'more';
    END LOOP;
    IF cutoff IS NOT NULL THEN
        partition := zbxhist_internal.auditlog_others(parent);
        PERFORM zbxhist_internal.execute_as_owner(partition, format('DELETE FROM %s WHERE clock < %s', partition, cutoff));
    END IF;
    RETURN 'done';
END
$$;

-- Whether a partition of an audit log has rows of this clock or later.
CREATE FUNCTION zbxhist_internal.has_auditlog_rows(partition regclass, from_clock bigint) RETURNS boolean
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    -- policies might hide some
    PERFORM zbxhist_internal.refuse('55000', format('table %s has row security', partition),
        hint => format('ALTER TABLE %s DISABLE ROW LEVEL SECURITY;', partition))
      WHERE EXISTS (SELECT FROM pg_class k WHERE k.oid = partition AND k.relrowsecurity);
    RETURN zbxhist_internal.execute_as_owner(
        partition, format('SELECT EXISTS (SELECT FROM %s WHERE clock >= %s)', partition, from_clock))::boolean;
END
$$;

-- Makes a plain table of a partitioned audit log, by copying its rows while it is locked.
CREATE FUNCTION zbxhist_internal.undo_auditlog(parent regclass) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET lock_timeout = 0 AS $$
DECLARE
    known_as name;
    schema   regnamespace;
    plain    regclass;
    relation regclass;
    problem  text;
BEGIN
    PERFORM zbxhist_internal.require_owner(parent);
    PERFORM zbxhist_internal.lock_with_patience(VARIADIC parent || ARRAY(SELECT p.partition FROM zbxhist_internal.auditlog_partitions(parent) p));
    FOR relation, problem IN
        SELECT r.relation, coalesce(zbxhist_internal.auditlog_obstacle(r.relation),
                                    'is what ' || zbxhist_internal.dependent_object(r.relation) || ' depends on')
          FROM (SELECT parent UNION ALL SELECT p.partition FROM zbxhist_internal.auditlog_partitions(parent) p) r (relation)
    LOOP
        PERFORM zbxhist_internal.refuse('55000', format('cannot make a plain table of %s', parent),
            detail => format('Table %s %s.', relation, problem))
          WHERE problem IS NOT NULL;
    END LOOP;
    SELECT k.relname, k.relnamespace INTO known_as, schema FROM pg_class k WHERE k.oid = parent;
    PERFORM zbxhist_internal.execute_as_owner(parent, format('ALTER TABLE %s RENAME TO %I', parent,
        zbxhist_internal.free_name(schema, known_as::text, '_old')));
    plain := zbxhist_internal.create_like_auditlog(parent, schema, known_as, '');
    PERFORM zbxhist_internal.execute_as_owner(plain, format('ALTER TABLE %s ALTER COLUMN auditid TYPE %s COLLATE "default"', plain,
        (SELECT format_type(a.atttypid, a.atttypmod) FROM pg_attribute a WHERE a.attrelid = parent AND a.attname = 'auditid')));
    PERFORM zbxhist_internal.execute_as_owner(plain, format('INSERT INTO %s SELECT * FROM %s', plain, parent));
    PERFORM zbxhist_internal.create_auditlog_indexes(parent, plain);
    PERFORM zbxhist_internal.execute_as_owner(parent, format('DROP TABLE %s', parent));
    DELETE FROM zbxhist.auditlog_config c WHERE c.parent = undo_auditlog.parent;
END
$$;

-- The part of check that is about partitioned audit logs.
CREATE FUNCTION zbxhist_internal.check_auditlogs() RETURNS SETOF zbxhist_internal.check_line
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    remedy CONSTANT text := 'CALL zbxhist.run_maintenance();';
    policy record;
BEGIN
    FOR policy IN
        SELECT c.*, n.nspname, r.retention AS kept, r.problem
          FROM zbxhist.auditlog_config c
          JOIN pg_class k ON k.oid = c.parent
          JOIN pg_namespace n ON n.oid = k.relnamespace
         CROSS JOIN zbxhist_internal.auditlog_retention(c.parent, c.retention) r
         ORDER BY n.nspname COLLATE "C"
    LOOP
        RETURN QUERY
            SELECT 'error', 'step_failed', policy.parent::text,
                   format('maintenance fails (%s): %s', p.step, p.message), remedy
              FROM zbxhist.step_problem p
             WHERE p.parent = policy.parent AND NOT zbxhist_internal.is_transient(p.sqlstate);
        RETURN QUERY
            SELECT 'warning', 'no_current_partition', policy.parent::text,
                   'there is no partition for the present: new rows go to the one for ids that are none of Zabbix''s', remedy
             WHERE NOT EXISTS (SELECT FROM zbxhist_internal.auditlog_partitions(policy.parent) p
                                WHERE zbxhist_internal.current_clock() BETWEEN p.from_clock AND p.to_clock - 1);
        IF policy.problem IS NOT NULL THEN
            RETURN QUERY SELECT 'warning', 'no_retention', policy.parent::text,
                format('nothing is ever dropped: %s.  With the command nothing is, and that is meant', policy.problem),
                format('SELECT * FROM zbxhist.partition_auditlog(%L, retention => ''100 years'');', policy.parent);
        END IF;
        IF (zbxhist_internal.zabbix_setting(policy.nspname, 'hk_audit_mode')).value = '1' THEN
            RETURN QUERY SELECT 'info', 'auditlog_housekeeping', policy.parent::text,
                'Zabbix''s housekeeper deletes row by row what is dropped with its partition a little later',
                zbxhist_internal.setting_command(policy.nspname, 'hk_audit_mode', '0');
        END IF;
    END LOOP;
END
$$;
