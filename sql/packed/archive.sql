-- sql/packed/archive.sql
--
-- An archived day keeps its table here.  Only its groups are on another server, and are read through a
-- foreign table of postgres_fdw (src/packed/archive.c).  The other server needs one ordinary table,
-- dist/archive/archive.sql, and no extension.

-- Writes the rows of a packed day into the table of a new one, which was created in the same transaction.
-- The new rows refer to the groups of a copy instead of having groups.  Raises 55006 while not all
-- transactions see the same rows.
CREATE FUNCTION zbxhist_internal.archive_rows(
    day regclass, new_day regclass, copy uuid, OUT rows bigint, OUT groups bigint, OUT version bigint)
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'zbxhist_archive_rows';

-- The reverse: writes the rows of an archived day with their groups, which it fetches and compares with
-- their checksums.
CREATE FUNCTION zbxhist_internal.unarchive_rows(
    day regclass, new_day regclass, OUT rows bigint, OUT groups bigint, OUT version bigint)
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'zbxhist_archive_rows';

-- Returns an identifier of this database, to tell it from others that list the same copies of packed
-- days.  A restored dump or a clone of the cluster lists the copies of its original, which it must not
-- remove.
CREATE FUNCTION zbxhist_internal.archive_origin() RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT format('%s/%s', (pg_control_system()).system_identifier, d.oid) FROM pg_database d WHERE d.datname = current_database()
$$;

-- Why packed days of a managed table cannot be archived on a server, with the command that fixes it; no
-- row if they can.
CREATE FUNCTION zbxhist_internal.why_no_archive(parent regclass, server name)
RETURNS TABLE (code text, problem text, command text)
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT l.*
      FROM (SELECT CASE
                   WHEN s.oid IS NULL THEN ARRAY['42704', format('server "%s" does not exist', server),
                       format('CREATE SERVER %I FOREIGN DATA WRAPPER postgres_fdw;', server)]
                   WHEN w.fdwname <> 'postgres_fdw' THEN ARRAY['42809',
                       format('server "%s" is none of foreign-data wrapper postgres_fdw', server), NULL]
                   WHEN NOT has_server_privilege(k.relowner, s.oid, 'USAGE') THEN ARRAY['42501',
                       format('%s, the owner of table %s, has no privilege USAGE on server "%s"', k.relowner::regrole, parent, server),
                       format('GRANT USAGE ON FOREIGN SERVER %I TO %s;', server, k.relowner::regrole)]
                   WHEN NOT EXISTS (SELECT FROM pg_user_mappings u
                                     WHERE u.srvid = s.oid AND u.umuser IN (0, k.relowner)) THEN ARRAY['42704',
                       format('%s, the owner of table %s, has no user mapping for server "%s"', k.relowner::regrole, parent, server),
                       format('CREATE USER MAPPING FOR %s SERVER %I;', k.relowner::regrole, server)]
                   END AS a
              FROM pg_class k
              LEFT JOIN pg_foreign_server s ON s.srvname = server
              LEFT JOIN pg_foreign_data_wrapper w ON w.oid = s.srvfdw
             WHERE k.oid = parent) n,
           LATERAL (SELECT n.a[1], n.a[2], n.a[3]) AS l (code, problem, command)
     WHERE n.a IS NOT NULL
$$;

-- Returns the foreign table through which archived days of a managed table are read from a server; NULL
-- if there is none.
-- All tables of one owner share it: the column copy says to which copy a row belongs.
CREATE FUNCTION zbxhist_internal.archive_table(parent regclass, server name) RETURNS regclass
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT f.oid::regclass
      FROM pg_class k
      JOIN pg_class f ON f.relowner = k.relowner AND f.relnamespace = 'zbxhist_packed'::regnamespace
      JOIN pg_foreign_table t ON t.ftrelid = f.oid
      JOIN pg_foreign_server s ON s.oid = t.ftserver AND s.srvname = server
     WHERE k.oid = parent
     ORDER BY f.oid LIMIT 1
$$;

-- As archive_table, but creates the foreign table if it does not exist.
CREATE FUNCTION zbxhist_internal.create_archive_table(parent regclass, server name) RETURNS regclass
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    result   regclass := zbxhist_internal.archive_table(parent, server);
    new_name name;
BEGIN
    IF result IS NULL THEN
        new_name := zbxhist_internal.free_name('zbxhist_packed'::regnamespace, server, '_groups');
        EXECUTE format('CREATE FOREIGN TABLE zbxhist_packed.%I ('
                       'copy uuid NOT NULL, number bigint NOT NULL, payload bytea NOT NULL) SERVER %I '
                       'OPTIONS (schema_name ''zbxhist_archive'', table_name ''packed_group'', fetch_size ''1000'', batch_size ''20'', async_capable ''true'')',
                       new_name, server);
        result := format('zbxhist_packed.%I', new_name)::regclass;
        PERFORM zbxhist_internal.own_alone(result, k.relowner) FROM pg_class k WHERE k.oid = parent;
    END IF;
    RETURN result;
END
$$;

-- ---- days to be archived ----

-- The packed days that are due to be archived, oldest first.
-- Days that are due to be repacked or compacted are left out until that is done.
CREATE FUNCTION zbxhist_internal.archivable_days(parent regclass)
RETURNS TABLE (day regclass, from_clock bigint, to_clock bigint, rows bigint)
LANGUAGE sql VOLATILE STRICT PARALLEL SAFE ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
    SELECT d.day, d.from_clock, d.to_clock, d.nrows
      FROM zbxhist.parent_config c
      JOIN zbxhist.packed_day d ON d.parent = c.parent
      JOIN pg_class k ON k.oid = d.day AND k.relpersistence = 'p'
     CROSS JOIN zbxhist_internal.cutoff_clock(c.parent) AS cutoff
     WHERE c.parent = archivable_days.parent AND c.routing AND c.archive_server IS NOT NULL
       AND ceil(d.to_clock / 86400.0) * 86400 <= zbxhist_internal.clock_before(c.archive_after)
       AND d.from_clock >= coalesce(cutoff, d.from_clock)
       AND d.partition IS NULL AND d.nrows > 0 AND d.archive_copy IS NULL AND NOT d.kept_here
       AND NOT EXISTS (SELECT FROM zbxhist_internal.why_no_archive(c.parent, c.archive_server))
       AND NOT EXISTS (SELECT FROM zbxhist_internal.wasteful_days(c.parent) w WHERE w.day = d.day)
       AND NOT EXISTS (SELECT FROM zbxhist_internal.compactable_days(c.parent) o WHERE d.day = ANY (o.days))
     ORDER BY d.from_clock
$$;

-- ---- copying ----

-- Returns a subquery for FROM: the next groups of a packed day that is being archived.
-- They are read in the order of the index, in which archive_rows() numbers them, too.
CREATE FUNCTION zbxhist_internal.groups_to_copy(copy zbxhist.archive_copy, max_groups integer) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT format('(SELECT first_itemid, first_clock, payload FROM %s '
                  'WHERE nrows > 0 AND (first_itemid, first_clock) > (%L::bigint, %L::integer) '
                  'ORDER BY first_itemid, first_clock LIMIT %s) AS d',
                  copy.day, copy.last_itemid, copy.last_clock, max_groups)
$$;

-- Computes an aggregate ("what") of the next groups of a packed day that is being archived, and moves
-- the position of the copy behind them; the position becomes NULL if there are none.
CREATE FUNCTION zbxhist_internal.read_groups(
    INOUT copy zbxhist.archive_copy, max_groups integer, what text, OUT result text)
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found CONSTANT text[] := string_to_array(zbxhist_internal.execute_as_owner(copy.day, format(
        'SELECT concat_ws('','', count(*), (max(ARRAY[d.first_itemid, d.first_clock]))[1], '
        '(max(ARRAY[d.first_itemid, d.first_clock]))[2], %s) FROM %s HAVING count(*) > 0',
        what, zbxhist_internal.groups_to_copy(copy, max_groups))), ',');
BEGIN
    copy.number := copy.number + found[1]::bigint;
    copy.last_itemid := found[2];
    copy.last_clock := found[3];
    result := found[4];
END
$$;

-- Sends some groups of a packed day to another server.
-- It first deletes what is there beyond the position: a transaction that failed here may have committed
-- there.
CREATE FUNCTION zbxhist_internal.copy_groups(INOUT copy zbxhist.archive_copy, max_groups integer)
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    before CONSTANT zbxhist.archive_copy := copy;
    part   CONSTANT record := zbxhist_internal.read_groups(copy, max_groups, 'sum(octet_length(d.payload))');
BEGIN
    IF part.result IS NOT NULL THEN
        IF copy.number = 0 THEN
            PERFORM zbxhist_internal.list_copy(copy);
        END IF;
        PERFORM zbxhist_internal.execute_as_owner(copy.groups, format(
            'DELETE FROM %s WHERE copy = %L::uuid AND number > %s', copy.groups, copy.copy, copy.number));
        PERFORM zbxhist_internal.execute_as_owner(copy.groups, format(
            'INSERT INTO %s (copy, number, payload) '
            'SELECT %L::uuid, %s + row_number() OVER (ORDER BY d.first_itemid, d.first_clock), d.payload FROM %s',
            copy.groups, copy.copy, copy.number, zbxhist_internal.groups_to_copy(copy, max_groups)));
        copy := part.copy;
        copy.bytes := before.bytes + part.result::bigint;
    END IF;
    IF copy.number < before.number + max_groups THEN
        copy.state := 'comparing';
        copy.copied := copy.number;
        copy.number := 0;
        copy.last_itemid := -9223372036854775808;
        copy.last_clock := -2147483648;
    END IF;
END
$$;

-- Compares the checksum of some groups of a packed day with that of the groups on another server.
-- The other server computes its own, so that no groups are sent back.
CREATE FUNCTION zbxhist_internal.compare_groups(INOUT copy zbxhist.archive_copy, max_groups integer)
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    checksum CONSTANT text := 'sha256(string_agg(sha256(%s), ''''::bytea ORDER BY %s))';
    here record;
BEGIN
    IF copy.number < copy.copied THEN
        here := zbxhist_internal.read_groups(copy, max_groups, format(checksum, 'd.payload', 'd.first_itemid, d.first_clock'));
        IF zbxhist_internal.execute_as_owner(copy.groups, format(
               'SELECT %s FROM %s WHERE copy = %L::uuid AND number > %s AND number <= %s HAVING count(*) = %s',
               format(checksum, 'payload', 'number'), copy.groups, copy.copy, copy.number, (here.copy).number,
               (here.copy).number - copy.number)) IS DISTINCT FROM here.result THEN
            copy.state := 'useless';
            RETURN;
        END IF;
        copy := here.copy;
    END IF;
    IF copy.number = copy.copied THEN
        copy.state := 'compared';
    END IF;
END
$$;

-- ---- steps ----

-- Replaces the table of a packed day by one that refers to the groups of its copy on another server.
-- As in rewrite_days, the first call waits for running transactions, the second replaces the table.
CREATE FUNCTION zbxhist_internal.replace_by_copy(
    parent regclass, entry zbxhist.packed_day, INOUT copy zbxhist.archive_copy)
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    label   CONSTANT text := entry.day::text;
    bytes   CONSTANT bigint := pg_total_relation_size(entry.day);
    new_day regclass;
    written record;
    waited  interval;
BEGIN
    IF NOT zbxhist_internal.has_begun(parent, 'archive', label) THEN
        -- it may have been compared long ago, and the foreign server may lead somewhere else now
        IF zbxhist_internal.execute_as_owner(copy.groups, format(
               'SELECT concat_ws('','', count(*), coalesce(sum(octet_length(payload)), 0)) FROM %s WHERE copy = %L::uuid',
               copy.groups, copy.copy)) <> concat_ws(',', copy.copied, copy.bytes) THEN
            copy.state := 'useless';
            RETURN;
        END IF;
        PERFORM zbxhist_internal.begin_rewrite(parent, 'archive', ARRAY[entry.day]);
        RETURN;
    END IF;
    new_day := zbxhist_internal.create_day(parent, entry.day, entry.from_clock, entry.to_clock);
    written := zbxhist_internal.archive_rows(entry.day, new_day, copy.copy);
    IF written.version <> copy.version OR written.groups <> copy.copied THEN
        PERFORM zbxhist_internal.execute_as_owner(new_day, format('DROP TABLE %s', new_day));
        copy.state := 'useless';
        RETURN;
    END IF;
    UPDATE zbxhist.packed_day d
       SET day = new_day, archive_copy = copy.copy, kept_here = false
     WHERE d.day = entry.day;
    waited := zbxhist_internal.end_rewrite(parent, ARRAY[entry.day], ARRAY[written.version], new_day, true);
    copy.state := 'archived';
    copy.day := new_day;
    copy.archived_at := clock_timestamp();
    PERFORM zbxhist_internal.log_action(parent, 'archive', label, rows => written.rows,
        bytes => bytes - pg_total_relation_size(new_day), lock_wait => waited,
        message => format('%s groups, %s on server %I', copy.copied, pg_size_pretty(copy.bytes), copy.server));
END
$$;

-- Does the next part of archiving a packed day: copies it to another server, compares, and replaces it.
-- Returns "done", "more" (call again) or "wait" (call again later).
-- Each call is a transaction of its own.  The other server commits first, so after any crash the whole
-- day is here, or it is on the other server.
CREATE FUNCTION zbxhist_internal.archive_day(parent regclass, day regclass) RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    policy CONSTANT zbxhist.parent_config := zbxhist_internal.require_parent(parent);
    entry  zbxhist.packed_day;
    made   zbxhist.archive_copy;
BEGIN
    SELECT d.* INTO entry FROM zbxhist.packed_day d
     WHERE d.parent = archive_day.parent AND d.day = archive_day.day AND d.partition IS NULL
       AND d.archive_copy IS NULL
       FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'done';
    END IF;
    PERFORM zbxhist_internal.refuse('55000', format('table %s has no archive_server', parent),
        hint => format('SELECT zbxhist.alter_parent(%L, archive_server => ''...'');', parent))
      WHERE policy.archive_server IS NULL;
    PERFORM zbxhist_internal.refuse(w.code, w.problem, hint => w.command)
       FROM zbxhist_internal.why_no_archive(parent, policy.archive_server) w;
    SELECT c.* INTO made FROM zbxhist.archive_copy c
     WHERE c.day = archive_day.day AND c.server = policy.archive_server AND c.state IN ('copying', 'comparing', 'compared')
       AND c.origin = zbxhist_internal.archive_origin() AND c.begun_at > pg_postmaster_start_time()
       AND c.groups = zbxhist_internal.archive_table(archive_day.parent, c.server)
     ORDER BY c.begun_at DESC LIMIT 1
       FOR UPDATE;
    BEGIN
        -- 250 groups, which a slow line sends within the timeout of set_timeouts()
        CASE made.state
            WHEN 'copying' THEN made := zbxhist_internal.copy_groups(made, 250);
            WHEN 'comparing' THEN made := zbxhist_internal.compare_groups(made, 250);
            WHEN 'compared' THEN made := zbxhist_internal.replace_by_copy(parent, entry, made);
            ELSE
                PERFORM zbxhist_internal.refuse('40001', format('packed day %s was changed while it was copied to server "%s", or the copy differs',
                                                                entry.day, policy.archive_server),
                    detail => 'It stays here.', hint => 'Repeat the call in an hour.')
                  WHERE (SELECT count(*) FROM zbxhist.archive_copy c
                          WHERE c.day = entry.day AND c.state = 'useless' AND c.begun_at > clock_timestamp() - interval '1 hour') > 1;
                INSERT INTO zbxhist.archive_copy (copy, parent, day, server, groups, origin, version)
                VALUES (gen_random_uuid(), entry.parent, entry.day, policy.archive_server,
                        zbxhist_internal.create_archive_table(entry.parent, policy.archive_server),
                        zbxhist_internal.archive_origin(), (zbxhist_internal.day_version(entry.day)).version);
                RETURN 'more';
        END CASE;
    EXCEPTION WHEN object_in_use THEN
        -- some transactions do not see the day's newest rows yet
        RETURN 'wait';
    END;
    UPDATE zbxhist.archive_copy c
       SET day = made.day, state = made.state, archived_at = made.archived_at, number = made.number,
           last_itemid = made.last_itemid, last_clock = made.last_clock, copied = made.copied, bytes = made.bytes
     WHERE c.copy = made.copy;
    RETURN CASE made.state WHEN 'archived' THEN 'done' ELSE 'more' END;
END
$$;

-- Step of maintenance: archives a packed day that is due.
CREATE FUNCTION zbxhist_internal.step_archive(parent regclass, day regclass) RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    -- another session may have archived it, or changed the policy
    IF NOT EXISTS (SELECT FROM zbxhist_internal.archivable_days(step_archive.parent) a WHERE a.day = step_archive.day) THEN
        RETURN 'done';
    END IF;
    RETURN zbxhist_internal.archive_day(parent, day);
END
$$;

-- Moves the packed parts of a UTC day of a managed table to its archive_server; can be interrupted
-- and repeated.
CREATE PROCEDURE zbxhist.archive(parent regclass, day date)
LANGUAGE plpgsql AS $$
BEGIN
    CALL zbxhist_internal.next_transaction();
    CALL zbxhist_internal.repeat_by_hand(parent, 'archive', zbxhist_internal.days_to_unpack(parent, day));
END
$$;

-- Brings the archived parts of a UTC day of a managed table back; maintenance does not archive them
-- again.  Can be interrupted and repeated.
CREATE PROCEDURE zbxhist.unarchive(parent regclass, day date)
LANGUAGE plpgsql AS $$
BEGIN
    CALL zbxhist_internal.next_transaction();
    PERFORM zbxhist_internal.require_routed(parent);
    CALL zbxhist_internal.repeat_by_hand(parent, 'unarchive', zbxhist_internal.days_to_unpack(parent, day));
END
$$;

-- ---- copies that are not needed any more ----

-- The copies of packed days of a table that are not needed any more.
-- An unfinished copy from before the server's last start is not continued: this server may be a clone,
-- and its original may continue the same copy.
CREATE FUNCTION zbxhist_internal.unneeded_copies(parent regclass) RETURNS SETOF zbxhist.archive_copy
LANGUAGE sql VOLATILE STRICT PARALLEL SAFE ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
    SELECT c.*
      FROM zbxhist.archive_copy c
      LEFT JOIN zbxhist.parent_config p ON p.parent = c.parent
     WHERE c.parent = unneeded_copies.parent
       AND NOT EXISTS (SELECT FROM zbxhist.packed_day d WHERE d.archive_copy = c.copy)
       AND NOT (c.state IN ('copying', 'comparing', 'compared') AND c.server = p.archive_server AND p.routing
                AND c.begun_at > pg_postmaster_start_time()
                AND EXISTS (SELECT FROM zbxhist.packed_day d
                             WHERE d.day = c.day AND d.partition IS NULL AND d.archive_copy IS NULL))
$$;

-- Makes the copies of a table refer to foreign tables of its owner.  Copies whose foreign table was
-- dropped, or belongs to another role, get a new one.  It also notes new names of renamed servers.
CREATE FUNCTION zbxhist_internal.mend_copies(parent regclass) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    place name;
    new_groups regclass;
BEGIN
    UPDATE zbxhist.archive_copy c SET server = s.srvname
      FROM pg_foreign_table t
      JOIN pg_foreign_server s ON s.oid = t.ftserver
     WHERE c.parent = mend_copies.parent AND t.ftrelid = c.groups AND c.server <> s.srvname;
    FOR place IN
        SELECT DISTINCT c.server FROM zbxhist.archive_copy c
          JOIN pg_class p ON p.oid = c.parent
          LEFT JOIN pg_class k ON k.oid = c.groups
         WHERE c.parent = mend_copies.parent AND k.relowner IS DISTINCT FROM p.relowner
           AND NOT EXISTS (SELECT FROM zbxhist_internal.why_no_archive(c.parent, c.server))
    LOOP
        new_groups := zbxhist_internal.create_archive_table(mend_copies.parent, place);
        UPDATE zbxhist.archive_mark m SET groups = new_groups
         WHERE m.groups IN (SELECT c.groups FROM zbxhist.archive_copy c WHERE c.parent = mend_copies.parent AND c.server = place)
           AND NOT EXISTS (SELECT FROM zbxhist.archive_mark o WHERE o.groups = new_groups);
        UPDATE zbxhist.archive_copy c SET groups = new_groups
         WHERE c.parent = mend_copies.parent AND c.server = place;
    END LOOP;
END
$$;

-- The foreign tables of archives that are not needed any more, if the caller has their owner's rights.
CREATE FUNCTION zbxhist_internal.unneeded_archive_tables() RETURNS SETOF regclass
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY
        SELECT k.oid::regclass
          FROM pg_class k
          JOIN pg_foreign_table t ON t.ftrelid = k.oid
          JOIN pg_foreign_server s ON s.oid = t.ftserver
          JOIN pg_foreign_data_wrapper w ON w.oid = s.srvfdw AND w.fdwname = 'postgres_fdw'
         WHERE k.relnamespace = 'zbxhist_packed'::regnamespace AND pg_has_role(k.relowner, 'USAGE')
           AND NOT EXISTS (SELECT FROM zbxhist.archive_copy c WHERE c.groups = k.oid)
           AND NOT EXISTS (SELECT FROM zbxhist.parent_config p
                            WHERE p.archive_server = s.srvname AND zbxhist_internal.archive_table(p.parent, s.srvname) = k.oid);
END
$$;

-- Whether maintenance has anything to do about archived days of a table.
CREATE FUNCTION zbxhist_internal.has_archive(parent regclass) RETURNS boolean
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN EXISTS (SELECT FROM zbxhist.archive_copy c WHERE c.parent = has_archive.parent)
        OR EXISTS (SELECT FROM zbxhist_internal.unneeded_archive_tables());
END
$$;

-- Step of maintenance: removes one unneeded copy of a packed day from its server; returns "done", or
-- "more" (call again).
CREATE FUNCTION zbxhist_internal.step_archive_clean(parent regclass) RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    made  zbxhist.archive_copy;
    own   zbxhist.archive_mark;
    rows  text;
BEGIN
    PERFORM zbxhist_internal.mend_copies(parent);
    UPDATE zbxhist.archive_copy c
       SET left_at = now(), day = CASE WHEN c.state = 'archived' THEN NULL ELSE c.day END
     WHERE c.left_at IS NULL AND c.copy IN (SELECT u.copy FROM zbxhist_internal.unneeded_copies(step_archive_clean.parent) u);
    -- a copy that was in use stays for a day: a standby may be behind, an earlier backup may be restored,
    -- and a clone may not have noticed its original yet
    SELECT c.* INTO made
      FROM zbxhist_internal.unneeded_copies(step_archive_clean.parent) c
     WHERE c.origin = zbxhist_internal.archive_origin()
       -- a server without connect_timeout is not contacted for its mark
       AND (zbxhist_internal.has_timeout(c.server)
            AND (c.state <> 'archived' AND c.begun_at > pg_postmaster_start_time() OR c.left_at < clock_timestamp() - interval '1 day')
            OR NOT EXISTS (SELECT FROM zbxhist.parent_config p WHERE p.parent = step_archive_clean.parent))
       AND NOT (c.state = 'useless' AND c.begun_at > clock_timestamp() - interval '1 hour'
                AND EXISTS (SELECT FROM zbxhist.packed_day d WHERE d.day = c.day))
       AND EXISTS (SELECT FROM pg_class k WHERE k.oid = c.groups)
       AND NOT EXISTS (SELECT FROM zbxhist.archive_mark m WHERE m.groups = c.groups AND m.origin = c.origin AND m.lost_at IS NOT NULL)
     ORDER BY c.begun_at LIMIT 1;
    IF NOT FOUND THEN
        PERFORM zbxhist_internal.execute_as_owner(t, format('DROP FOREIGN TABLE %s', t))
           FROM zbxhist_internal.unneeded_archive_tables() t;
        DELETE FROM zbxhist.archive_mark m WHERE NOT EXISTS (SELECT FROM pg_class k WHERE k.oid = m.groups);
        RETURN 'done';
    END IF;
    own := zbxhist_internal.archive_mark(made.groups);
    IF own.token IS NULL OR own.next IS NOT NULL THEN
        PERFORM zbxhist_internal.renew_mark(made.groups);
        RETURN 'more';
    END IF;
    -- locks the mark until the end of the transaction
    IF zbxhist_internal.execute_as_owner(made.groups, format(
           'UPDATE %s SET number = 0 WHERE copy = %L::uuid AND number = 0 AND payload = %L::bytea',
           made.groups, own.mark, own.token)) <> '1' THEN
        UPDATE zbxhist.archive_mark m SET lost_at = clock_timestamp() WHERE m.mark = own.mark;
        RETURN 'more';
    END IF;
    rows := zbxhist_internal.execute_as_owner(made.groups, format('DELETE FROM %s WHERE copy = %L::uuid', made.groups, made.copy));
    PERFORM zbxhist_internal.unlist_copy(made);
    DELETE FROM zbxhist.archive_copy c WHERE c.copy = made.copy;
    PERFORM zbxhist_internal.log_action(parent, 'archive_clean', made.copy::text,
        message => format('%s groups on server %I', rows, made.server));
    RETURN 'more';
END
$$;

-- ---- reachability of archive servers ----

-- The foreign tables through which maintenance of a table checks that archive servers can be reached.
-- Of the managed tables that share one, the first checks it.  A server without connect_timeout is not
-- checked, because that could take minutes.
CREATE FUNCTION zbxhist_internal.archives_to_reach(parent regclass) RETURNS SETOF regclass
LANGUAGE sql STABLE STRICT PARALLEL SAFE ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
    SELECT k.oid::regclass
      FROM pg_class k
      JOIN pg_foreign_table t ON t.ftrelid = k.oid
      JOIN pg_foreign_server s ON s.oid = t.ftserver
     WHERE zbxhist_internal.has_timeout(s.srvname)
       AND archives_to_reach.parent = (SELECT c.parent FROM zbxhist.archive_copy c
                                        WHERE c.groups = k.oid AND c.state = 'archived' ORDER BY c.parent LIMIT 1)
$$;

-- Whether a foreign server has a connect_timeout.
CREATE FUNCTION zbxhist_internal.has_timeout(server name) RETURNS boolean
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT EXISTS (SELECT FROM pg_foreign_server s, pg_options_to_table(s.srvoptions) o
                    WHERE s.srvname = server AND o.option_name = 'connect_timeout' AND o.option_value ~ '^[1-9]')
$$;

-- Step of maintenance: checks that an archive server can be reached, by changing this database's mark
-- there.
CREATE FUNCTION zbxhist_internal.step_archive_reach(parent regclass, groups regclass) RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    -- forget problems of dropped foreign tables, and of servers that another table checks now
    DELETE FROM zbxhist.step_problem p
     WHERE p.parent = step_archive_reach.parent AND p.step = 'archive_reach'
       AND p.relation NOT IN (SELECT a::text FROM zbxhist_internal.archives_to_reach(p.parent) a);
    RETURN CASE WHEN groups IN (SELECT zbxhist_internal.archives_to_reach(step_archive_reach.parent))
                THEN zbxhist_internal.renew_mark(groups) ELSE 'done' END;
END
$$;

-- ---- check ----

-- Part of check(): archived days.
CREATE FUNCTION zbxhist_internal.check_archive(policy zbxhist.parent_config) RETURNS SETOF zbxhist_internal.check_line
LANGUAGE sql VOLATILE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
    SELECT 'warning', 'archive_server', policy.parent::text,
           w.problem || ': no packed day of it can be archived there', w.command
      FROM zbxhist_internal.why_no_archive(policy.parent, policy.archive_server) w
     UNION ALL
    SELECT 'error', 'archived_days_unreadable', policy.parent::text,
           format('%s archived days cannot be read: %s', count(*),
                  coalesce(w.problem, 'the foreign table for server "' || c.server || '" is missing, or is not of the table''s owner',
                           'nothing says on which server they are')),
           CASE WHEN c.server IS NULL THEN 'Restore the rows of zbxhist.archive_copy from a backup.'
                WHEN w.problem IS NULL THEN 'CALL zbxhist.run_maintenance();' ELSE w.command END
      FROM zbxhist.packed_day d
      JOIN pg_class p ON p.oid = d.parent
      LEFT JOIN zbxhist.archive_copy c ON c.copy = d.archive_copy
      LEFT JOIN pg_class k ON k.oid = c.groups
      LEFT JOIN LATERAL zbxhist_internal.why_no_archive(c.parent, c.server) w ON true
     WHERE d.parent = policy.parent AND d.archive_copy IS NOT NULL
       AND (k.relowner IS DISTINCT FROM p.relowner OR w.problem IS NOT NULL)
     GROUP BY c.server, w.problem, w.command
     UNION ALL
    SELECT 'warning', 'archive_of_another', policy.parent::text,
           format('%s of its packed days have been archived by another database: nothing of them is ever removed from server %s.  If that database is gone and this one has taken its place, run the command',
                  count(*), string_agg(DISTINCT quote_ident(c.server), ', ')),
           format('SELECT zbxhist.alter_parent(%L, take_archive => true);', policy.parent)
      FROM zbxhist.archive_copy c
     WHERE c.parent = policy.parent AND c.origin <> zbxhist_internal.archive_origin()
    HAVING count(*) > 0
     UNION ALL
    SELECT 'error', 'archive_of_another', policy.parent::text,
           format('a clone of this server, or a server of which this one is a clone or an earlier state, has used archive server %I, found by maintenance at %s: nothing is removed there any more.  If that server is gone, or cannot use the archive any more, run the command',
                  s.srvname, zbxhist_internal.format_time(m.lost_at)),
           format('SELECT zbxhist.alter_parent(%L, take_archive => true);', policy.parent)
      FROM zbxhist.archive_mark m
      JOIN pg_foreign_table t ON t.ftrelid = m.groups
      JOIN pg_foreign_server s ON s.oid = t.ftserver
     WHERE m.lost_at IS NOT NULL AND m.origin = zbxhist_internal.archive_origin()
       AND policy.parent = (SELECT c.parent FROM zbxhist.archive_copy c WHERE c.groups = m.groups ORDER BY c.parent LIMIT 1)
     UNION ALL
    SELECT 'error', 'archive_unreachable', a.server,
           format('%s archived days cannot be read (first noticed by maintenance at %s): %s',
                  (SELECT count(*) FROM zbxhist.packed_day d JOIN zbxhist.archive_copy c ON c.copy = d.archive_copy
                    WHERE c.server = a.server), zbxhist_internal.format_time(p.since), p.message),
           'CALL zbxhist.run_maintenance();'
      FROM zbxhist.step_problem p,
           LATERAL (SELECT DISTINCT c.server::text FROM zbxhist.archive_copy c WHERE c.groups::text = p.relation) a
     WHERE p.parent = policy.parent AND p.step = 'archive_reach'
     UNION ALL
    SELECT 'warning', 'archive_timeout', s.server, t.problem, format('ALTER SERVER %I OPTIONS (%s);', s.server, t.options)
      FROM (SELECT DISTINCT c.server::text FROM zbxhist.archive_copy c WHERE c.parent = policy.parent AND c.state = 'archived'
             UNION SELECT policy.archive_server) s
      JOIN pg_foreign_server f ON f.srvname = s.server
     CROSS JOIN LATERAL (
           SELECT 'the server has no connect_timeout: while it is down, a query that needs it may wait for minutes, and maintenance neither checks it nor removes anything there',
                  'ADD connect_timeout ''5'''
            WHERE NOT zbxhist_internal.has_timeout(f.srvname)
            UNION ALL
           SELECT 'the server has no keepalives_idle: if the network fails, a query that waits for it may wait for hours, and so may the maintenance of all tables',
                  'ADD keepalives_idle ''5'', ADD keepalives_interval ''2'', ADD keepalives_count ''3'''
             FROM pg_options_to_table(f.srvoptions) o
            WHERE NOT 'keepalives_idle' = ANY (ARRAY(SELECT k.option_name FROM pg_options_to_table(f.srvoptions) k))
            GROUP BY ()
           HAVING bool_or(o.option_name IN ('host', 'hostaddr') AND o.option_value NOT LIKE '/%')) t (problem, options)
$$;
