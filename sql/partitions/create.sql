-- sql/partitions/create.sql

-- Returns a name that is free in a schema, or in two, for a relation and its row type: a stem, cut if it
-- is too long, an ending, and a number if necessary.
-- A table that another transaction has created but not committed is not visible in the catalogs.  So an
-- advisory lock is taken on the name until the end of the transaction, and a locked name is not free:
-- nobody waits.  Names of committed tables are found whatever the transaction's snapshot is.
CREATE FUNCTION zbxhist_internal.free_name(
    schema regnamespace, stem text, ending text DEFAULT '', other_schema regnamespace DEFAULT NULL) RETURNS name
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    tail    text := ending;
    attempt integer := 0;
BEGIN
    IF schema IS NULL OR stem IS NULL OR ending IS NULL THEN
        RETURN NULL;
    END IF;
    LOOP
        WHILE octet_length(stem) + octet_length(tail) > 63 AND stem <> '' LOOP
            stem := left(stem, -1);
        END LOOP;
        IF pg_try_advisory_xact_lock(hashtextextended(stem || tail, schema::oid::bigint)) THEN
            EXIT WHEN NOT EXISTS (
                SELECT FROM unnest(ARRAY[schema, coalesce(other_schema, schema)]) s
                 WHERE to_regclass(format('%s.%I', s, stem || tail)) IS NOT NULL
                    OR to_regtype(format('%s.%I', s, stem || tail)) IS NOT NULL);
        END IF;
        attempt := attempt + 1;
        tail := ending || '_' || attempt;
    END LOOP;
    RETURN (stem || tail)::name;
END
$$;

-- Returns a free name for a new partition.
CREATE FUNCTION zbxhist_internal.partition_name(
    parent regclass, partition_interval interval, from_clock bigint, to_clock bigint) RETURNS name
LANGUAGE plpgsql VOLATILE STRICT PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    relation CONSTANT pg_class := (SELECT k FROM pg_class k WHERE k.oid = parent);
    -- of an open lower bound: 1901-12-13 20:45:52
    moment   CONSTANT timestamp := timestamp '1970-01-01' + make_interval(secs => from_clock);
    covered  CONSTANT record := zbxhist_internal.clock_range(partition_interval, from_clock);
BEGIN
    RETURN zbxhist_internal.free_name(zbxhist_internal.partition_schema(relation.relowner), relation.relname, '_p' || CASE
        WHEN partition_interval >= interval '28 days' AND extract(day FROM partition_interval) = 0
             AND (from_clock, to_clock) = (covered.from_clock, covered.to_clock)
             AND date_trunc('month', moment) = moment THEN to_char(moment, 'YYYYMM')
        WHEN date_trunc('day', moment) = moment
             AND (to_clock - from_clock >= 86400 OR to_clock > 2147483647) THEN to_char(moment, 'YYYYMMDD')
        ELSE to_char(moment, 'YYYYMMDD_HH24MI')
             -- the rest of a day is not named like its first hour
             || CASE WHEN to_clock - from_clock > extract(epoch FROM partition_interval) AND to_clock - from_clock < 86400
                     THEN to_char(moment + make_interval(secs => to_clock - from_clock - 60), '_HH24MI') ELSE '' END
    END);
END
$$;

-- Returns storage settings of pg_class as text for WITH (...) or SET (...).
CREATE FUNCTION zbxhist_internal.format_options(options text[], prefix text DEFAULT '') RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT string_agg(format('%s%I=%L', prefix, split_part(o, '=', 1),
                             substr(o, strpos(o, '=') + 1)), ', ' ORDER BY n)
      FROM unnest(options) WITH ORDINALITY AS u (o, n)
$$;

-- Makes a role the owner of a table or foreign table, given by its OID.
CREATE FUNCTION zbxhist_internal.change_owner(relation regclass, owner oid) RETURNS void
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'zbxhist_change_owner';

-- Grants the owner of a managed table CREATE on a schema of zbxhist: PostgreSQL makes nobody the owner
-- of a table in a schema in which he may not create one.
CREATE FUNCTION zbxhist_internal.let_create(schema regnamespace, owner oid) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT has_schema_privilege(owner, schema, 'CREATE') THEN
        EXECUTE format('GRANT CREATE ON SCHEMA %s TO %I', schema, pg_get_userbyid(owner));
    END IF;
END
$$;

-- Makes a role the owner of a partition, packed day or foreign table that the caller owns.
CREATE FUNCTION zbxhist_internal.give_to(relation regclass, owner oid) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    source CONSTANT pg_class := (SELECT k FROM pg_class k WHERE k.oid = relation);
BEGIN
    IF source.relowner = owner THEN
        RETURN;
    END IF;
    IF source.relnamespace IN ('zbxhist_packed'::regnamespace, to_regnamespace('zbxhist_partitions')) THEN
        PERFORM zbxhist_internal.let_create(source.relnamespace, owner);
    END IF;
    PERFORM zbxhist_internal.change_owner(relation, owner);
END
$$;

-- Returns the schema of partitions, and creates it if it does not exist.
-- It keeps partitions out of Zabbix's schema, whose tables backups and other tools list.  It is not a
-- member of the extension, so DROP EXTENSION keeps it with all partitions.  Its owner could drop the
-- partitions, so it must be that of the database, or a superuser.
CREATE FUNCTION zbxhist_internal.partition_schema(owner oid) RETURNS regnamespace
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF to_regnamespace('zbxhist_partitions') IS NULL THEN
        BEGIN
            CREATE SCHEMA zbxhist_partitions AUTHORIZATION pg_database_owner;
            COMMENT ON SCHEMA zbxhist_partitions IS 'zbxhist: partitions of managed tables';
            GRANT USAGE ON SCHEMA zbxhist_partitions TO PUBLIC;
        EXCEPTION WHEN duplicate_schema OR unique_violation THEN
            -- another session has created it
            NULL;
        END;
    END IF;
    PERFORM zbxhist_internal.refuse('42501', format('schema "zbxhist_partitions" belongs to role %s', quote_ident(r.rolname)),
        detail => 'Who owns it could drop the partitions in it.',
        hint => 'ALTER SCHEMA zbxhist_partitions OWNER TO pg_database_owner;')
       FROM pg_namespace n
       JOIN pg_roles r ON r.oid = n.nspowner
       JOIN pg_database d ON d.datname = current_database()
      WHERE n.nspname = 'zbxhist_partitions' AND NOT r.rolsuper AND r.oid NOT IN (d.datdba, 'pg_database_owner'::regrole);
    PERFORM zbxhist_internal.let_create('zbxhist_partitions', owner);
    RETURN 'zbxhist_partitions'::regnamespace;
END
$$;

-- Creates one partition, with indexes, settings, owner and privileges as its parent's.  The caller has
-- made sure that no other partition covers any of its range.
-- CREATE TABLE ... INHERITS takes SHARE UPDATE EXCLUSIVE on the parent, for which no INSERT waits.  It
-- may itself wait for VACUUM, ANALYZE or CREATE INDEX.  PostgreSQL cancels an autovacuum after
-- deadlock_timeout, and lock_timeout is longer here.
CREATE FUNCTION zbxhist_internal.create_range(parent regclass, from_clock bigint, to_clock bigint) RETURNS regclass
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET default_tablespace = ''
SET client_min_messages = warning SET lock_timeout = 0 SET max_parallel_maintenance_workers = 0 AS $$
DECLARE
    policy    CONSTANT zbxhist.parent_config := (
        SELECT c FROM zbxhist.parent_config c WHERE c.parent = create_range.parent);
    new_name  CONSTANT name :=
        zbxhist_internal.partition_name(parent, policy.partition_interval, from_clock, to_clock);
    source    record;
    result    regclass;
    unfit     record;
BEGIN
    unfit := zbxhist_internal.why_unfit(parent);
    PERFORM zbxhist_internal.refuse('55000', format('table %s cannot have partitions as it is now', parent),
        detail => unfit.problem,
        hint => unfit.remedy)
      WHERE unfit.problem IS NOT NULL;
    PERFORM set_config('lock_timeout', zbxhist_internal.patient_lock_timeout()::text, true);
    SELECT k.relpersistence, k.relowner, a.amname, t.spcname,
           concat_ws(', ', zbxhist_internal.format_options(k.reloptions),
                           zbxhist_internal.format_options(toast.reloptions, 'toast.'),
                           -- VACUUM and ANALYZE would write its pages once more before it is packed;
                           -- statistics of its first minutes are good enough
                           (SELECT string_agg(d.name || '=' || d.value, ', ' ORDER BY d.name)
                              FROM (VALUES ('autovacuum_analyze_scale_factor', '100'),
                                           ('autovacuum_analyze_threshold', '20000'),
                                           ('autovacuum_vacuum_insert_threshold', '-1')) d (name, value)
                             WHERE to_clock - from_clock < 86400 AND policy.pack_after IS NOT NULL
                               AND NOT EXISTS (SELECT FROM unnest(k.reloptions) o
                                                WHERE starts_with(o, d.name || '=')))) AS options
      INTO source
      FROM pg_class k
      JOIN pg_am a ON a.oid = k.relam
      LEFT JOIN pg_tablespace t ON t.oid = k.reltablespace
      LEFT JOIN pg_class toast ON toast.oid = k.reltoastrelid
     WHERE k.oid = create_range.parent;
    BEGIN
        EXECUTE format(
            -- PostgreSQL stores an expression with its place in the statement.  The padding makes those of all
            -- partitions alike but for their constants, see TakeConstants in src/tables/bounds.c
            'CREATE %sTABLE zbxhist_partitions.%-70I (CONSTRAINT zbxhist_clock CHECK (%s)) INHERITS (%s) USING %I%s%s',
            CASE WHEN source.relpersistence = 'u' THEN 'UNLOGGED ' END, new_name,
            zbxhist_internal.bounds_condition(from_clock, to_clock), parent, source.amname,
            ' WITH (' || nullif(source.options, '') || ')', ' TABLESPACE ' || quote_ident(source.spcname));
    EXCEPTION WHEN lock_not_available THEN
        PERFORM zbxhist_internal.refuse('55P03', format('could not lock table %s within %s ms', parent, zbxhist_internal.patient_lock_timeout()),
            detail => 'VACUUM, ANALYZE or CREATE INDEX is running on it.  Repeat the call when that has ended.',
            hint => zbxhist_internal.long_transactions());
    END;
    -- also by pg_inherits: the schema may have been renamed meanwhile
    SELECT k.oid INTO STRICT result
      FROM pg_class k JOIN pg_inherits i ON i.inhrelid = k.oid
     WHERE k.relnamespace = 'zbxhist_partitions'::regnamespace AND k.relname = new_name
       AND i.inhparent = create_range.parent;
    PERFORM zbxhist_internal.give_to(result, source.relowner);
    PERFORM zbxhist_internal.clone_indexes(parent, result);
    PERFORM zbxhist_internal.clone_identity(parent, result);
    PERFORM zbxhist_internal.clone_grants(parent, result);
    PERFORM zbxhist_internal.invalidate(parent);
    -- a child that does not count as a partition would be created again and again
    PERFORM zbxhist_internal.refuse('55000', format('the bounds of a new partition of table %s cannot be read', parent),
        detail => format('Its constraint is %s.',
                         (SELECT pg_get_constraintdef(c.oid) FROM pg_constraint c
                           WHERE c.conrelid = result AND c.conname = 'zbxhist_clock')))
      WHERE NOT EXISTS (SELECT FROM zbxhist.list_partitions(parent) p
                         WHERE p.partition = result
                           AND p.from_clock = create_range.from_clock AND p.to_clock = create_range.to_clock);
    RETURN result;
END
$$;

-- Creates a partition of a managed table for a UTC day, or for its missing part, and returns the
-- one in which the day begins, or its table if it is packed.
CREATE FUNCTION zbxhist.create_partition(parent regclass, day date) RETURNS regclass
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    policy  CONSTANT zbxhist.parent_config := zbxhist_internal.require_parent(parent);
    moment  CONSTANT bigint := zbxhist_internal.day_clock(day);
BEGIN
    -- only one session creates partitions at a time, and sees what the one before it created
    PERFORM pg_advisory_xact_lock(zbxhist_internal.lock_class(), parent::oid::integer);
    PERFORM zbxhist_internal.create_range(parent, m.gap_from, m.gap_to)
       FROM zbxhist_internal.clock_range(zbxhist_internal.coarse_interval(policy.partition_interval), moment) c,
            zbxhist_internal.missing_ranges(parent, c.from_clock, c.to_clock) m;
    RETURN (SELECT r.relation FROM zbxhist_internal.list_ranges(parent) r
             WHERE moment >= r.from_clock AND moment < r.to_clock
             ORDER BY r.is_packed LIMIT 1);
END
$$;
