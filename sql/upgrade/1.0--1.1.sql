-- sql/upgrade/1.0--1.1.sql
--
-- What brings 1.0 to 1.1 before the functions and views, which make appends
-- with OR REPLACE: see the Makefile.  Functions that users do not call move to
-- a schema of their own; they keep their OIDs, and sessions their plans.

\echo Use "ALTER EXTENSION zbxhist UPDATE TO '1.1'" to load this file. \quit

-- nothing but what comes with PostgreSQL is found by the rest of this script:
-- whoever made the schema zbxhist could put something there
SET LOCAL search_path = pg_catalog, pg_temp;

CREATE SCHEMA zbxhist_internal;

COMMENT ON SCHEMA zbxhist_internal IS
'zbxhist: functions that the extension calls itself';
GRANT USAGE ON SCHEMA zbxhist_internal TO PUBLIC, pg_database_owner;

ALTER FUNCTION zbxhist.fdw_handler() SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.fdw_validator(text[], oid) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.is_preloaded() SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.is_shared() SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.invalidate(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.move_rows(regclass, regclass, bigint, bigint, bigint, integer) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.merge_rows(regclass, regclass, bigint, bigint, integer) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.pack_rows(regclass, regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.unpack_rows(regclass, regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.verify_day(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.counters() SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.lock_strays(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.packed_table(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.why_not_packable(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.attach_day(regclass, regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.end_older_snapshots(regclass, xid8) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.lock_packing(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.lock_packed_table(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.lock_moves(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.adopt(zbxhist.parent_config) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.attach_triggers(regclass[]) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.check_columns(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.check_database() SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.check_maintenance(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.check_partitions(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.check_policy(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.check_row_triggers(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.check_rows(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.check_triggers(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.clock_range(interval, bigint) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.clone_columns(regclass, regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.clone_foreign_keys(regclass, regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.missing_foreign_keys(regclass, regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.clone_grants(regclass, regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.clone_indexes(regclass, regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.clone_triggers(regclass, regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.row_triggers(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.configure_zabbix(name, boolean) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.count_waiting(regclass, bigint, bigint) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.create_range(regclass, bigint, bigint) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.create_triggers(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.current_clock() SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.cutoff_clock(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.delete_expired(regclass, bigint, bigint, integer) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.describe_grants(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.describe_indexes(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.describe_policy(zbxhist.parent_config) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.effective_retention(regclass, interval) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.estimated_rows(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.expired_partitions(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.find_tables(name) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.forget_dropped() SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.format_options(text[], text) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.format_time(timestamptz) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.new_columns(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.note_columns(regclass, regclass, regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.has_same_columns(regclass, regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.has_item_index(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.has_own_rows(regclass, bigint) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.lock_class() SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.lock_patiently(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.lock_exclusively(regclass, integer) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.log_action(regclass, text, text, bigint, bigint, timestamptz, interval, text, text) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.may_wait(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.missing_ranges(regclass, bigint, bigint) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.move_batch(regclass, text, regclass, regclass, regclass, bigint, bigint) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.new_policy(regclass, boolean, zbxhist.managed_schema) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.new_tables() SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.next_existing_range(zbxhist.parent_config) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.own_pages(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.parent_list() SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.parse_period(text) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.partition_name(regclass, interval, bigint, bigint) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.patient_lock_timeout() SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.preload_command() SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.preload_library(boolean) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.preview_parent(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.remember_schema(name, zbxhist.managed_schema) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.remove_marks(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.require_owner(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.require_parent(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.require_schemas(name, name[]) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.role_name(oid) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.run_step(regclass, text, regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.running_transactions() SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.library_list(text) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.session_libraries() SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.with_library(text[]) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.overriding_roles() SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.set_action(regclass, text, text) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.settled(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.short_lock_timeout() SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.step_begin(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.step_drop(regclass, regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.step_end(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.step_expire(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.step_extend(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.step_move(regclass, regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.step_premake(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.step_take_up(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.step_truncate(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.is_unverified(regclass, xid, text[]) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.step_verify(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.step_undo_begin(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.step_undo_drop(regclass, regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.step_undo_end(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.step_undo_move(regclass, regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.step_undo_settle(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.stored_values(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.verify_columns(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.verify_interval(interval) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.verify_not_in_other_care(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.verify_policy(zbxhist.parent_config) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.verify_table(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.waiting_clock(regclass, bigint, bigint, boolean) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.waiting_partitions(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.waiting_rows(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.wanted_ranges(zbxhist.parent_config) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.work_list(regclass, text) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.zabbix_setting(name, text) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.zabbix_tables() SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.check_packed(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.check_unpacked(zbxhist.parent_config) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.create_day(regclass, regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.create_packed_table(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.day_clock(date) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.day_name(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.drop_day(regclass, regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.expired_days(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.is_settled(text[], xid8) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.last_problem(regclass, regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.list_ranges(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.lock_with_patience(regclass[]) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.not_packable(regclass, regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.own_alone(regclass, oid) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.own_column(regclass, regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.pack_partition(regclass, regclass) SET SCHEMA zbxhist_internal;
DROP FUNCTION zbxhist.packable_partitions(regclass);
ALTER FUNCTION zbxhist.packed_table_settled(regclass, regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.refuse_to_wait(regclass, integer) SET SCHEMA zbxhist_internal;
DROP FUNCTION zbxhist.run_by_hand(regclass, text, regclass);
ALTER FUNCTION zbxhist.step_attach(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.step_merge(regclass, regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.step_pack(regclass, regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.step_unpack(regclass, regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.wait_for_readers(regclass, integer) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.wait_for_transactions(integer) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.waiting_days(regclass) SET SCHEMA zbxhist_internal;
ALTER FUNCTION zbxhist.range_support(internal) SET SCHEMA zbxhist_internal;
ALTER PROCEDURE zbxhist.maintain_parent(regclass) SET SCHEMA zbxhist_internal;
ALTER PROCEDURE zbxhist.move_waiting(regclass) SET SCHEMA zbxhist_internal;
ALTER PROCEDURE zbxhist.merge_waiting(regclass) SET SCHEMA zbxhist_internal;
ALTER PROCEDURE zbxhist.next_transaction() SET SCHEMA zbxhist_internal;
DROP PROCEDURE zbxhist.repeat_by_hand(regclass, text, regclass);
ALTER PROCEDURE zbxhist.repeat_step(regclass, text, regclass, text) SET SCHEMA zbxhist_internal;

-- functions with other arguments or another result than in 1.0; the view is put in place again below
CREATE OR REPLACE VIEW zbxhist.status AS
SELECT NULL::regclass AS parent,
       NULL::bigint AS partitions,
       NULL::bigint AS packed_days,
       NULL::bigint AS partitions_ahead,
       NULL::timestamp with time zone AS covered_until,
       NULL::bigint AS rows_waiting,
       NULL::boolean AS rows_waiting_exact,
       NULL::timestamp with time zone AS last_run,
       NULL::timestamp with time zone AS last_success,
       NULL::text AS last_error,
       NULL::timestamp with time zone AS last_error_at,
       NULL::timestamp with time zone AS next_drop,
       NULL::bigint AS values_routed,
       NULL::bigint AS values_kept,
       NULL::bigint AS batches,
       NULL::bigint AS values_fast,
       NULL::jsonb AS values_slow;
DROP FUNCTION zbxhist.insert_paths();
DROP FUNCTION zbxhist_internal.zabbix_setting(name, text);
DROP FUNCTION zbxhist_internal.has_item_index(regclass);
DROP FUNCTION zbxhist_internal.describe_indexes(regclass);
DROP FUNCTION zbxhist_internal.last_problem(regclass, regclass);
DROP FUNCTION zbxhist.setup(name, interval, interval, integer, interval, boolean, boolean, boolean);
DROP FUNCTION zbxhist_internal.step_unpack(regclass, regclass);
DROP FUNCTION zbxhist.day_to_unpack(regclass, date);
DROP FUNCTION zbxhist.partition_to_pack(regclass, date);
DROP FUNCTION zbxhist.alter_parent(regclass, interval, interval, integer, interval, boolean, boolean, boolean);
DROP FUNCTION zbxhist_internal.pack_rows(regclass, regclass);
DROP FUNCTION zbxhist.create_parent(regclass, interval, interval, integer, interval, boolean);

ALTER TABLE zbxhist.packed_day
    ADD COLUMN packed_bytes bigint,
    ADD COLUMN packed_rows bigint,
    ADD COLUMN merged_at timestamptz,
    ADD COLUMN repacked_at timestamptz,
    ADD COLUMN not_compacted text,
    ADD COLUMN runs boolean NOT NULL DEFAULT false;
ALTER TABLE zbxhist.parent_config
    ADD COLUMN deleted_items text NOT NULL DEFAULT 'keep' CHECK (deleted_items IN ('keep', 'drop')),
    ADD COLUMN ingest text NOT NULL DEFAULT 'heap' CHECK (ingest IN ('heap', 'runs'));
ALTER TABLE zbxhist.parent_state
    ADD COLUMN repack_after timestamptz,
    ADD COLUMN deleted_bytes bigint,
    ADD COLUMN deleted_percent numeric(4, 1),
    ADD COLUMN measured_at timestamptz;
-- deleted from, even where a publication has all tables
ALTER TABLE zbxhist.stray_mark REPLICA IDENTITY FULL;
ALTER TABLE zbxhist.packed_change REPLICA IDENTITY FULL;

-- its tables keep their days until setup or alter_parent is called
ALTER TABLE zbxhist.managed_schema
    ADD COLUMN history_interval interval,
    ADD COLUMN ingest text CHECK (ingest IN ('heap', 'runs'));
COMMENT ON COLUMN zbxhist.packed_day.packed_bytes IS 'Disk space of its values, without index, when they were written last';
COMMENT ON COLUMN zbxhist.packed_day.packed_rows IS 'Number of values then';
COMMENT ON COLUMN zbxhist.packed_day.merged_at IS 'When late values were last merged into it';
COMMENT ON COLUMN zbxhist.packed_day.repacked_at IS 'When it was last repacked or compacted, or that was tried in vain';
COMMENT ON COLUMN zbxhist.packed_day.not_compacted IS 'Why it cannot be compacted with others, found when it was tried';
COMMENT ON COLUMN zbxhist.packed_day.runs IS 'Whether INSERTs still store values there, a statement''s as a run: an hour to come or not yet packed';
COMMENT ON COLUMN zbxhist.parent_config.ingest IS 'What new partitions shorter than a day are: ordinary tables (heap), or tables of runs (runs)';
COMMENT ON COLUMN zbxhist.parent_state.merged_at IS 'When it was last looked for rows of packed days';
COMMENT ON COLUMN zbxhist.parent_state.repack_after IS 'When the next packed day may be repacked';
COMMENT ON COLUMN zbxhist.parent_state.deleted_bytes IS 'About what values of items that Zabbix has deleted take of packed days; null: unknown';
COMMENT ON COLUMN zbxhist.parent_state.deleted_percent IS 'The same in per cent of packed days';
COMMENT ON COLUMN zbxhist.parent_state.measured_at IS 'When that was last measured';

COMMENT ON COLUMN zbxhist.parent_config.deleted_items IS 'Whether values of items that Zabbix has deleted are left out (drop) when days are packed or written anew, or stay until retention (keep)';
COMMENT ON COLUMN zbxhist.parent_config.premake IS 'Number of partitions kept ahead of the current one; of days, where partitions divide a day';
COMMENT ON COLUMN zbxhist.managed_schema.premake IS 'Number of partitions kept ahead, or of days if they are shorter';
COMMENT ON COLUMN zbxhist.managed_schema.history_interval IS 'Length of the partitions of new history tables; NULL: a day, of before 1.1';
COMMENT ON COLUMN zbxhist.managed_schema.ingest IS 'How new history tables store new values: heap or runs; NULL: heap, of before 1.1';
COMMENT ON COLUMN zbxhist.maintenance_log.action IS 'What was done: take_up, owner, premake, split, replace, trigger, align, index, move, extend, drop, expire, truncate, pack, merge, compact, repack, unpack, salvage, lost, undo, ...';

-- whoever made the schema before could have put objects of his own into it, and
-- let others do so; check() tells of functions that are
DO $$
DECLARE
    other record;
BEGIN
    FOR other IN
        SELECT DISTINCT a.grantee FROM pg_namespace n, aclexplode(n.nspacl) a
         WHERE n.nspname = 'zbxhist' AND a.grantee NOT IN (n.nspowner, 0)
    LOOP
        EXECUTE format('REVOKE ALL ON SCHEMA zbxhist FROM %I', pg_get_userbyid(other.grantee));
    END LOOP;
    REVOKE CREATE ON SCHEMA zbxhist FROM PUBLIC;
END
$$;
ALTER SCHEMA zbxhist OWNER TO pg_database_owner;
