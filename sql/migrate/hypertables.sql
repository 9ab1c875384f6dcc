-- sql/migrate/hypertables.sql

CREATE FUNCTION zbxhist_internal.former_name(parent regclass)
RETURNS name
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT (k.relname || '_old')::name FROM pg_class k WHERE k.oid = parent
$$;

COMMENT ON FUNCTION zbxhist_internal.former_name(regclass) IS
'The name that a hypertable has when a managed table has taken its place, as with Zabbix''s own upgrades (internal)';

CREATE FUNCTION zbxhist_internal.verify_hypertable(parent regclass)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    schema CONSTANT regnamespace := (SELECT k.relnamespace FROM pg_class k WHERE k.oid = parent);
    former CONSTANT name := zbxhist_internal.former_name(parent);
    others CONSTANT regclass := (SELECT k.oid FROM pg_class k WHERE k.relnamespace = schema AND k.relname = former);
BEGIN
    IF parent IS NULL THEN
        RAISE EXCEPTION 'table must not be null'
            USING ERRCODE = 'null_value_not_allowed';
    END IF;
    IF parent NOT IN (SELECT zbxhist_internal.hypertables()) THEN
        RAISE EXCEPTION 'table % is not a hypertable of TimescaleDB', parent
            USING ERRCODE = 'wrong_object_type',
                  HINT = CASE WHEN others IN (SELECT zbxhist_internal.hypertables())
                              THEN format('CALL zbxhist.import(%L, %L);', others, parent)
                              WHEN EXISTS (SELECT FROM zbxhist.parent_config c WHERE c.parent = verify_hypertable.parent)
                              THEN 'SELECT * FROM zbxhist.status;'
                              ELSE format('SELECT zbxhist.create_parent(%L);', parent) END;
    END IF;
    PERFORM zbxhist_internal.require_owner(parent);
    PERFORM zbxhist_internal.verify_replaceable(parent);
    IF others IS NOT NULL THEN
        RAISE EXCEPTION 'cannot rename table % to %: that is there already', parent, others
            USING ERRCODE = 'duplicate_table',
                  HINT = format('ALTER TABLE %s RENAME TO %I;', others, zbxhist_internal.free_name(schema, former));
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.verify_hypertable(regclass) IS
'Raises an error unless a plain table can take the place of a hypertable (internal)';

-- Without the index on clock alone that TimescaleDB adds: it is of no use where
-- there are partitions.
CREATE FUNCTION zbxhist_internal.replace_hypertable(hypertable regclass, former_name name, with_rows boolean)
RETURNS regclass
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    result  CONSTANT regclass := zbxhist_internal.new_plain_table(hypertable);
    columns CONSTANT text := (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) FROM pg_attribute a
                               WHERE a.attrelid = hypertable AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '');
    query   CONSTANT text := format('SELECT %s FROM %%s', columns);
    surplus regclass;
BEGIN
    PERFORM zbxhist_internal.clone_columns(hypertable, result);
    PERFORM zbxhist_internal.clone_grants(hypertable, result);
    FOR surplus IN
        SELECT x.indexrelid FROM pg_index x
         WHERE x.indrelid = result AND zbxhist_internal.describe_index(x.indexrelid) = 'btree (clock DESC)'
    LOOP
        PERFORM zbxhist_internal.execute_as_owner(result, format('DROP INDEX %s', surplus));
    END LOOP;
    IF with_rows THEN
        PERFORM zbxhist_internal.execute_as_owner(result, format('INSERT INTO %s (%s) %s', result, columns, format(query, hypertable)));
        IF zbxhist_internal.checksum_rows(result, format(query, hypertable))
           IS DISTINCT FROM zbxhist_internal.checksum_rows(result, format(query, result)) THEN
            RAISE EXCEPTION 'the copy of table % has other rows', hypertable
                USING ERRCODE = 'data_corrupted';
        END IF;
    END IF;
    PERFORM zbxhist_internal.take_place(hypertable, result, former_name);
    RETURN result;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.replace_hypertable(regclass, name, boolean) IS
'Puts a plain table in the place of a hypertable that is locked, with its rows or without, and renames that, or drops it if there is no name (internal)';

-- In one transaction: whoever waits for the table finds the new one under its
-- name, and INSERTs go there.
CREATE FUNCTION zbxhist_internal.exchange_hypertable(hypertable regclass)
RETURNS regclass
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 0
AS $$
DECLARE
    started CONSTANT timestamptz := clock_timestamp();
    policy  zbxhist.parent_config;
    former  CONSTANT name := zbxhist_internal.former_name(hypertable);
    waited  interval;
    locked  timestamptz;
    result  regclass;
BEGIN
    PERFORM pg_advisory_xact_lock(zbxhist_internal.lock_class(), hypertable::oid::integer);
    PERFORM zbxhist_internal.verify_hypertable(hypertable);
    PERFORM zbxhist_internal.verify_columns(hypertable);
    policy := zbxhist_internal.adoption_policy(hypertable);
    waited := zbxhist_internal.lock_with_patience(hypertable);
    locked := clock_timestamp();
    PERFORM zbxhist_internal.verify_hypertable(hypertable);
    result := zbxhist_internal.replace_hypertable(hypertable, former, false);
    PERFORM zbxhist_internal.verify_table(result);
    policy.parent := result;
    PERFORM zbxhist_internal.write_new_policy(policy);
    PERFORM zbxhist_internal.create_triggers(result);
    PERFORM zbxhist_internal.invalidate(result);
    PERFORM zbxhist_internal.step_begin(result);
    PERFORM zbxhist_internal.log_action(result, 'adopt', hypertable::text, NULL, NULL, started, waited, NULL,
                                        format('in the place of a hypertable, locked for %s ms',
                                               ceil(extract(epoch FROM clock_timestamp() - locked) * 1000)));
    RETURN result;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.exchange_hypertable(regclass) IS
'Puts a plain managed table in the place of a hypertable, which it renames, and returns it (internal)';

CREATE FUNCTION zbxhist_internal.describe_hypertable(hypertable regclass)
RETURNS SETOF text
LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT format('would rename hypertable %s, of %s chunks, to %I and put an empty table in its place, managed by zbxhist',
                  hypertable, (SELECT count(*) FROM pg_inherits i WHERE i.inhparent = hypertable),
                  zbxhist_internal.former_name(hypertable))
     UNION ALL
    SELECT format('policy: %s', zbxhist_internal.describe_planned_policy(zbxhist_internal.adoption_policy(hypertable), false))
$$;

COMMENT ON FUNCTION zbxhist_internal.describe_hypertable(regclass) IS
'What adopt_hypertable would do, a line each (internal)';

CREATE PROCEDURE zbxhist.adopt_hypertable(hypertable regclass, dry_run boolean DEFAULT false)
LANGUAGE plpgsql
AS $$
DECLARE
    line   pg_catalog.text;
    answer pg_catalog.text;
    result pg_catalog.regclass;
BEGIN
    CALL zbxhist_internal.next_transaction();
    IF dry_run IS NULL THEN
        RAISE EXCEPTION 'dry_run must not be null'
            USING ERRCODE = 'null_value_not_allowed';
    END IF;
    PERFORM zbxhist_internal.verify_hypertable(hypertable);
    PERFORM zbxhist_internal.verify_columns(hypertable);
    IF dry_run THEN
        FOR line IN SELECT zbxhist_internal.describe_hypertable(hypertable) LOOP
            RAISE NOTICE '%', line;
        END LOOP;
    ELSE
        result := zbxhist_internal.exchange_hypertable(hypertable);
        CALL zbxhist_internal.next_transaction();
        CALL zbxhist_internal.repeat_step(result, 'premake', NULL::regclass, answer);
        RAISE NOTICE 'table % is managed by zbxhist now; the rows so far are in hypertable %', result, hypertable
            USING HINT = format('CALL zbxhist.import(%L, %L);', hypertable, result);
    END IF;
    -- the session's own search_path again, for the caller's next statement
    COMMIT;
END
$$;

COMMENT ON PROCEDURE zbxhist.adopt_hypertable(regclass, boolean) IS
'Puts a managed table in the place of a TimescaleDB hypertable, which gets the ending _old and is to be imported; with dry_run only says what it would do';

-- For what Zabbix has as a hypertable and zbxhist does not manage: auditlog.
CREATE FUNCTION zbxhist.release_hypertable(hypertable regclass)
RETURNS regclass
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 0
AS $$
BEGIN
    PERFORM zbxhist_internal.verify_hypertable(hypertable);
    PERFORM zbxhist_internal.lock_with_patience(hypertable);
    RETURN zbxhist_internal.replace_hypertable(hypertable, NULL, true);
END
$$;

COMMENT ON FUNCTION zbxhist.release_hypertable(regclass) IS
'Makes a plain table of a TimescaleDB hypertable, by copying its rows while it is locked, and returns it';
