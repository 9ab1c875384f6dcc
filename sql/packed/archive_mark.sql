-- sql/packed/archive_mark.sql
--
-- Marks decide who may remove copies of packed days from an archive server.  A clone of this server has
-- the same tables, and so has this server after a restore to an earlier moment.  So each database has a
-- mark in the table of groups there: the row (mark, 0, token).  Maintenance changes the token on each
-- visit.  If the token there is not the one noted here, another server has visited since, and this one
-- removes nothing any more.  Copies that a clone could need are kept for a day, because within a day both
-- servers visit.  Then both find a token that is not theirs, and neither removes anything, until somebody
-- calls alter_parent(take_archive => true) on one of them.  Only that call changes the first 16 bytes of
-- the token.
--
-- The rows (mark, number below 0, copy) list the copies made under a mark.  By them a database that takes
-- over an archive finds copies that it does not list itself.

-- Returns the mark of this database on an archive server; creates the entry here if there is none, and
-- locks it.
CREATE FUNCTION zbxhist_internal.archive_mark(groups regclass) RETURNS zbxhist.archive_mark
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    result zbxhist.archive_mark;
BEGIN
    INSERT INTO zbxhist.archive_mark (groups, origin, mark)
    VALUES (groups, zbxhist_internal.archive_origin(), gen_random_uuid())
    ON CONFLICT ON CONSTRAINT archive_mark_pkey DO NOTHING;
    SELECT m.* INTO STRICT result FROM zbxhist.archive_mark m
     WHERE m.groups = archive_mark.groups AND m.origin = zbxhist_internal.archive_origin()
       FOR UPDATE;
    RETURN result;
END
$$;

-- Changes the mark on an archive server if it is still this database's; returns "done", or "more" (call
-- again).
-- The first call notes the next token here.  The second sends it: if its commit here is lost, the token
-- there is still known.
CREATE FUNCTION zbxhist_internal.renew_mark(groups regclass) RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    own     CONSTANT zbxhist.archive_mark := zbxhist_internal.archive_mark(groups);
    changed text;
BEGIN
    IF own.next IS NULL THEN
        IF current_setting('synchronous_commit') = 'off' THEN
            PERFORM set_config('synchronous_commit', 'local', true);
        END IF;
        UPDATE zbxhist.archive_mark m
           SET next = coalesce(substr(m.token, 1, 16), uuid_send(m.mark)) || uuid_send(gen_random_uuid())
         WHERE m.mark = own.mark;
        RETURN 'more';
    END IF;
    changed := zbxhist_internal.execute_as_owner(groups, format(
        'UPDATE %s SET payload = %L::bytea WHERE copy = %L::uuid AND number = 0 AND payload IN (%L::bytea, %L::bytea)',
        groups, own.next, own.mark, coalesce(own.token, own.next), own.next));
    IF changed = '0' AND own.token IS NULL THEN
        changed := zbxhist_internal.execute_as_owner(groups, format(
            'INSERT INTO %s (copy, number, payload) VALUES (%L::uuid, 0, %L::bytea)', groups, own.mark, own.next));
    END IF;
    IF changed = '1' THEN
        UPDATE zbxhist.archive_mark m SET token = m.next, next = NULL, renewed_at = clock_timestamp() WHERE m.mark = own.mark;
    ELSIF own.lost_at IS NULL THEN
        -- shuts the other server out, too; but not if this server was only just restored or cloned
        IF own.renewed_at > pg_postmaster_start_time() THEN
            PERFORM zbxhist_internal.execute_as_owner(groups, format(
                'UPDATE %s SET payload = %L::bytea WHERE copy = %L::uuid AND number = 0 AND substr(payload, 1, 16) = %2$L::bytea',
                groups, substr(own.token, 1, 16), own.mark));
        END IF;
        UPDATE zbxhist.archive_mark m SET lost_at = clock_timestamp() WHERE m.mark = own.mark;
    END IF;
    RETURN 'done';
END
$$;

-- Returns the number under which a copy is listed on an archive server.
CREATE FUNCTION zbxhist_internal.place_below_mark(copy uuid) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT -1 - (uuid_hash_extended(copy, 0) & 4611686018427387903)
$$;

-- Lists a copy of a packed day on the archive server as one of this database.
CREATE FUNCTION zbxhist_internal.list_copy(copy zbxhist.archive_copy) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM zbxhist_internal.unlist_copy(copy);
    PERFORM zbxhist_internal.execute_as_owner(copy.groups, format(
                'INSERT INTO %s (copy, number, payload) VALUES (%L::uuid, %s, %L::bytea)', copy.groups,
                (zbxhist_internal.archive_mark(copy.groups)).mark, zbxhist_internal.place_below_mark(copy.copy), uuid_send(copy.copy)));
END
$$;

-- Removes a copy from the list on the archive server.
CREATE FUNCTION zbxhist_internal.unlist_copy(copy zbxhist.archive_copy) RETURNS void
LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT zbxhist_internal.execute_as_owner(copy.groups, format(
               'DELETE FROM %s WHERE copy = %L::uuid AND number = %s',
               copy.groups, (zbxhist_internal.archive_mark(copy.groups)).mark, zbxhist_internal.place_below_mark(copy.copy)))
$$;

-- Makes this database the owner of an archive and of all copies that its former owners listed there.
-- Copies that are not known here become unneeded ones, which maintenance removes.  The mark stays that of
-- the last owner, so that it notices the new token.
CREATE FUNCTION zbxhist_internal.take_mark(parent regclass, groups regclass) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    own       CONSTANT zbxhist.archive_mark := zbxhist_internal.archive_mark(groups);
    new_token CONSTANT bytea := uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid());
    former    zbxhist.archive_mark;
    taken     uuid;
    copies    text;
BEGIN
    FOR former IN SELECT m.* FROM zbxhist.archive_mark m WHERE m.groups = take_mark.groups
                   ORDER BY m.origin <> own.origin, m.renewed_at NULLS FIRST LOOP
        copies := zbxhist_internal.execute_as_owner(groups, format(
            'SELECT string_agg(encode(payload, ''hex''), '','') FROM %s WHERE copy = %L::uuid AND number < 0', groups, former.mark));
        INSERT INTO zbxhist.archive_copy (copy, parent, server, groups, origin, state, version, left_at)
        SELECT l.copy::uuid, parent, s.srvname, groups, own.origin, 'archived', 0, now()
          FROM string_to_table(copies, ',') AS l (copy), pg_foreign_table t
          JOIN pg_foreign_server s ON s.oid = t.ftserver
         WHERE t.ftrelid = groups AND l.copy <> ''
            ON CONFLICT ON CONSTRAINT archive_copy_pkey DO NOTHING;
        PERFORM zbxhist_internal.execute_as_owner(groups, format('DELETE FROM %s WHERE copy = %L::uuid', groups, former.mark));
        taken := former.mark;
    END LOOP;
    PERFORM zbxhist_internal.execute_as_owner(groups, format(
                'INSERT INTO %s (copy, number, payload) VALUES (%L::uuid, 0, %L::bytea)', groups, taken, new_token));
    DELETE FROM zbxhist.archive_mark m WHERE m.groups = take_mark.groups;
    INSERT INTO zbxhist.archive_mark (groups, origin, mark, token, renewed_at)
    VALUES (groups, own.origin, taken, new_token, clock_timestamp());
    UPDATE zbxhist.archive_copy c
       SET origin = own.origin, left_at = CASE WHEN c.left_at IS NOT NULL THEN now() END
     WHERE c.groups = take_mark.groups;
    PERFORM zbxhist_internal.list_copy(c) FROM zbxhist.archive_copy c WHERE c.groups = take_mark.groups;
END
$$;
