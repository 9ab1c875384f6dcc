-- sql/partitions/create_range.sql
--
-- CREATE TABLE ... INHERITS takes SHARE UPDATE EXCLUSIVE on the parent: no
-- INSERT waits for it.  What it may wait for is maintenance of PostgreSQL
-- itself; an autovacuum gives way after deadlock_timeout, so the wait allowed
-- here is longer than that.

CREATE FUNCTION zbxhist_internal.create_range(parent regclass, from_clock bigint, to_clock bigint)
RETURNS regclass
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET default_tablespace = ''
SET client_min_messages = warning
SET lock_timeout = 0
SET max_parallel_maintenance_workers = 0
AS $$
DECLARE
    policy    CONSTANT zbxhist.parent_config := (
        SELECT c FROM zbxhist.parent_config c WHERE c.parent = create_range.parent);
    new_name  CONSTANT name :=
        zbxhist_internal.partition_name(parent, policy.partition_interval, from_clock, to_clock);
    source    record;
    statement text;
    result    regclass;
    unfit     record;
BEGIN
    unfit := zbxhist_internal.why_unfit(parent);
    IF unfit.problem IS NOT NULL THEN
        RAISE EXCEPTION 'table % cannot have partitions as it is now', parent
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = unfit.problem,
                  HINT = unfit.remedy;
    END IF;
    PERFORM set_config('lock_timeout', zbxhist_internal.patient_lock_timeout()::text, true);
    SELECT k.relpersistence, k.relowner, k.relnamespace, n.nspname, a.amname, t.spcname,
           concat_ws(', ', zbxhist_internal.format_options(k.reloptions),
                           zbxhist_internal.format_options(toast.reloptions, 'toast.'),
                           -- VACUUM and ANALYZE have its pages written once more before it is packed;
                           -- statistics of its first minutes serve
                           (SELECT string_agg(d.name || '=' || d.value, ', ' ORDER BY d.name)
                              FROM (VALUES ('autovacuum_analyze_scale_factor', '100'),
                                           ('autovacuum_analyze_threshold', '20000'),
                                           ('autovacuum_vacuum_insert_threshold', '-1')) d (name, value)
                             WHERE to_clock - from_clock < 86400 AND policy.pack_after IS NOT NULL
                               AND NOT EXISTS (SELECT FROM unnest(k.reloptions) o
                                                WHERE starts_with(o, d.name || '=')))) AS options
      INTO source
      FROM pg_class k
      JOIN pg_namespace n ON n.oid = k.relnamespace
      JOIN pg_am a ON a.oid = k.relam
      LEFT JOIN pg_tablespace t ON t.oid = k.reltablespace
      LEFT JOIN pg_class toast ON toast.oid = k.reltoastrelid
     WHERE k.oid = create_range.parent;
    statement := format(
        'CREATE %sTABLE %I.%I (CONSTRAINT zbxhist_clock CHECK (%s)) INHERITS (%s) USING %I',
        CASE WHEN source.relpersistence = 'u' THEN 'UNLOGGED ' ELSE '' END,
        source.nspname, new_name,
        zbxhist_internal.bounds_condition(from_clock, to_clock), parent, source.amname);
    IF source.options <> '' THEN
        statement := statement || format(' WITH (%s)', source.options);
    END IF;
    IF source.spcname IS NOT NULL THEN
        statement := statement || format(' TABLESPACE %I', source.spcname);
    END IF;
    BEGIN
        EXECUTE statement;
    EXCEPTION WHEN lock_not_available THEN
        RAISE EXCEPTION 'could not lock table % within % ms', parent, zbxhist_internal.patient_lock_timeout()
            USING ERRCODE = 'lock_not_available',
                  DETAIL = 'VACUUM, ANALYZE, or the building of an index is at work on it.  Repeat the call when that has ended.',
                  HINT = zbxhist_internal.long_transactions();
    END;
    -- not by its name alone: the schema may have been renamed meanwhile
    SELECT k.oid INTO STRICT result
      FROM pg_class k JOIN pg_inherits i ON i.inhrelid = k.oid
     WHERE k.relnamespace = source.relnamespace AND k.relname = new_name
       AND i.inhparent = create_range.parent;
    IF source.relowner <> (SELECT k.relowner FROM pg_class k WHERE k.oid = result) THEN
        PERFORM zbxhist_internal.change_owner(result, source.relowner);
    END IF;
    PERFORM zbxhist_internal.clone_indexes(parent, result);
    PERFORM zbxhist_internal.clone_foreign_keys(parent, result);
    PERFORM zbxhist_internal.clone_columns(parent, result);
    PERFORM zbxhist_internal.clone_triggers(parent, result);
    PERFORM zbxhist_internal.clone_grants(parent, result);
    PERFORM zbxhist_internal.invalidate(parent);
    -- one that nobody takes for a partition would be created again and again
    IF NOT EXISTS (SELECT FROM zbxhist.list_partitions(parent) p
                    WHERE p.partition = result
                      AND p.from_clock = create_range.from_clock AND p.to_clock = create_range.to_clock) THEN
        RAISE EXCEPTION 'the bounds of a new partition of table % cannot be read', parent
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = format('Its constraint is %s.',
                                  (SELECT pg_get_constraintdef(c.oid) FROM pg_constraint c
                                    WHERE c.conrelid = result AND c.conname = 'zbxhist_clock'));
    END IF;
    RETURN result;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.create_range(regclass, bigint, bigint) IS
'Creates one partition, with everything its parent has, for a range that no other partition touches (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.create_range(regclass, bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.create_range(regclass, bigint, bigint) TO pg_database_owner;
