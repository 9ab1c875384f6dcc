-- sql/setup/parents.sql

-- Writes the policy of a new managed table and creates its first partitions.  Takes the lock of
-- maintenance on the parent.  The caller then calls attach_triggers.
CREATE FUNCTION zbxhist_internal.adopt(policy zbxhist.parent_config) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    present CONSTANT bigint := zbxhist_internal.current_clock();
BEGIN
    PERFORM zbxhist_internal.verify_policy(policy);
    PERFORM zbxhist_internal.verify_table(policy.parent);
    PERFORM pg_advisory_xact_lock(zbxhist_internal.lock_class(), policy.parent::oid::integer);
    PERFORM zbxhist_internal.write_new_policy(policy);
    PERFORM zbxhist_internal.agree_to_retention(policy);
    -- each new partition needs some entries in the server's lock table until this transaction ends, and
    -- setup does this for all tables; maintenance creates the rest one by one
    PERFORM zbxhist_internal.create_range(policy.parent, g.from_clock, g.to_clock)
       FROM (-- one partition for today's hours that are over: late values of today will arrive, too
             SELECT m.gap_from AS from_clock, m.gap_to AS to_clock, 2 AS rank
               FROM zbxhist_internal.clock_range(policy.partition_interval, present) c,
                    zbxhist_internal.missing_ranges(policy.parent, present / 86400 * 86400, c.from_clock) m
              UNION ALL
             SELECT w.from_clock, w.to_clock, CASE WHEN w.from_clock <= present THEN 1 ELSE 3 END
               FROM zbxhist_internal.wanted_ranges(policy) w
              ORDER BY rank, from_clock LIMIT least(25, zbxhist_internal.most_partitions() / 12)) g;
END
$$;

-- Manages a table with the columns itemid and clock, in place: new rows go to partitions; maintenance
-- moves existing rows that belong to these partitions, and others stay where they are.
CREATE FUNCTION zbxhist.create_parent(
    parent regclass, partition_interval interval DEFAULT '1 day', retention interval DEFAULT NULL,
    premake integer DEFAULT 3, pack_after interval DEFAULT NULL, move_existing boolean DEFAULT false,
    accept_deletion boolean DEFAULT false) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET intervalstyle = postgres AS $$
DECLARE
    policy zbxhist.parent_config;
BEGIN
    policy.parent := parent;
    policy.partition_interval := partition_interval;
    policy.retention := retention;
    policy.premake := premake;
    policy.pack_after := pack_after;
    policy.move_existing := move_existing;
    PERFORM zbxhist_internal.adopt(policy);
    PERFORM zbxhist_internal.announce_deletion(policy, NULL, accept_deletion);
    IF pack_after IS NULL AND zbxhist_internal.why_not_packable(parent) IS NULL THEN
        RAISE NOTICE 'partitions of table % will not be packed', parent
            USING HINT = format('SELECT zbxhist.alter_parent(%L, pack_after => %L);', parent,
                                zbxhist_internal.default_pack_after(partition_interval));
    END IF;
    -- last: its lock stops writers until the end of the transaction
    PERFORM zbxhist_internal.attach_triggers(ARRAY[parent]);
END
$$;

-- Changes those options of a managed table's policy that are given; the next maintenance applies
-- them. follow_zabbix takes the retention from Zabbix again; never_pack sets pack_after to NULL;
-- deleted_items 'drop' removes values of items that Zabbix has deleted when days are packed;
-- retention_action 'detach' turns expired partitions into ordinary tables in retention_schema;
-- time_precision '1 us', '1 ms' or '1 s' irreversibly rounds the times of packed values that are
-- older than time_precision_after, which accept_rounding must confirm; max_age and max_ahead leave
-- out new values that are older, or further in the future; out_of_range 'keep' keeps these for a
-- day; any_clock leaves out none; packed_tablespace is the tablespace of packed days that are older
-- than packed_tablespace_after, '' is that of the table; archive_server is the postgres_fdw server
-- to which packed days are moved at the age archive_after, '' stops that; take_archive makes this
-- database the owner of copies on archive servers that a database which it replaces has made;
-- auto_analyze says whether maintenance analyzes the table after packing.  A call that would delete
-- values that are kept now is refused unless accept_deletion is true.
CREATE FUNCTION zbxhist.alter_parent(
    parent regclass, partition_interval interval DEFAULT NULL, retention interval DEFAULT NULL,
    premake integer DEFAULT NULL, pack_after interval DEFAULT NULL, move_existing boolean DEFAULT NULL,
    follow_zabbix boolean DEFAULT false, never_pack boolean DEFAULT false, deleted_items text DEFAULT NULL,
    retention_action text DEFAULT NULL, retention_schema name DEFAULT NULL,
    time_precision text DEFAULT NULL, time_precision_after interval DEFAULT NULL, accept_rounding boolean DEFAULT false,
    max_age interval DEFAULT NULL, max_ahead interval DEFAULT NULL, out_of_range text DEFAULT NULL,
    any_clock boolean DEFAULT false, packed_tablespace name DEFAULT NULL, packed_tablespace_after interval DEFAULT NULL,
    archive_server name DEFAULT NULL, archive_after interval DEFAULT NULL, take_archive boolean DEFAULT false,
    auto_analyze boolean DEFAULT NULL, accept_deletion boolean DEFAULT false)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    former zbxhist.parent_config;
    policy zbxhist.parent_config;
    given  zbxhist.parent_config;
BEGIN
    -- locks the row: else a change that another session makes now would be overwritten
    PERFORM FROM zbxhist.parent_config c WHERE c.parent = alter_parent.parent FOR UPDATE;
    former := zbxhist_internal.require_parent(parent);
    policy := former;
    PERFORM zbxhist_internal.refuse('22023', 'retention and follow_zabbix cannot be given together',
        hint => 'follow_zabbix sets the retention back to the storage period set in Zabbix.')
      WHERE follow_zabbix AND retention IS NOT NULL;
    PERFORM zbxhist_internal.refuse('22023', 'pack_after and never_pack cannot be given together',
        hint => 'never_pack leaves partitions as they are from now on.')
      WHERE never_pack AND pack_after IS NOT NULL;
    given := (parent, partition_interval, retention, premake, pack_after, move_existing, NULL, NULL, deleted_items,
              retention_action, retention_schema, time_precision, time_precision_after, max_age, max_ahead,
              out_of_range, packed_tablespace, packed_tablespace_after, archive_server, archive_after, auto_analyze, NULL, NULL);
    PERFORM zbxhist_internal.verify_options(policy, given, any_clock, accept_rounding);
    given.packed_tablespace_after := CASE packed_tablespace WHEN '' THEN interval '0' ELSE packed_tablespace_after END;
    given.packed_tablespace := nullif(packed_tablespace, '');
    given.archive_server := nullif(archive_server, '');
    -- options that are not given stay, except those that are reset
    policy := jsonb_populate_record(NULL::zbxhist.parent_config, to_jsonb(policy) - ARRAY(
        SELECT w.option
          FROM (VALUES ('retention', follow_zabbix), ('pack_after', never_pack),
                       ('retention_schema', retention_action = 'drop'), ('max_age', any_clock), ('max_ahead', any_clock),
                       ('packed_tablespace', packed_tablespace = ''), ('archive_server', archive_server = ''),
                       ('archive_after', archive_server = '')) AS w (option, is_given_up)
         WHERE w.is_given_up) || jsonb_strip_nulls(to_jsonb(given)));
    IF archive_server <> '' THEN
        PERFORM zbxhist_internal.create_archive_table(parent, archive_server);
        PERFORM zbxhist_internal.mend_copies(parent);
    END IF;
    IF take_archive THEN
        PERFORM zbxhist_internal.take_mark(parent, a.groups)
           FROM (SELECT c.groups FROM zbxhist.archive_copy c WHERE c.parent = alter_parent.parent
                  UNION SELECT zbxhist_internal.archive_table(parent, policy.archive_server)) AS a
          WHERE a.groups IS NOT NULL;
    END IF;
    PERFORM zbxhist_internal.write_policy(policy);
    PERFORM zbxhist_internal.announce_deletion(policy, former, accept_deletion);
END
$$;
