-- sql/grants.sql
--
-- The owner of the database may call everything, others what is named here, which
-- changes nothing and tells no secrets; test/pgtap/catalog.sql has the list once more.

-- Also for the scripts of updates.
CREATE FUNCTION zbxhist_internal.grant_routines(extension name, everybody name[]) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    routine record;
BEGIN
    FOR routine IN
        SELECT p.oid::regprocedure AS signature,
               CASE WHEN p.proname = ANY (everybody) THEN 'PUBLIC'
                    WHEN p.proname IN ('metrics', 'table_metrics') THEN 'pg_monitor, pg_database_owner'
                    ELSE 'pg_database_owner' END AS callers
          FROM pg_depend d
          JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = extension
          JOIN pg_proc p ON p.oid = d.objid
         WHERE d.refclassid = 'pg_extension'::regclass AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
    LOOP
        EXECUTE format('REVOKE ALL ON ROUTINE %s FROM PUBLIC', routine.signature);
        EXECUTE format('GRANT EXECUTE ON ROUTINE %s TO %s', routine.signature, routine.callers);
    END LOOP;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.grant_routines IS
'Says who may call the functions of an extension: everybody those that are named, the rest the owner of the database (internal)';

SELECT zbxhist_internal.grant_routines('zbxhist', '{
    altered_days, archivable_days, archive_origin, archive_table, archives_to_reach, ask_consent, auditlog_index,
    auditlog_obstacle, auditlog_others, auditlog_partitions, auditlog_retention, bounds_condition, buckets,
    catalog_of, changed_policy, check, check_archive, check_auditlogs, check_clocks, check_deletion, check_columns, check_database,
    check_maintenance, check_migrations, check_packed, check_parent, check_partitions, check_retention, check_rows,
    check_triggers, check_zabbix, clock_before, clock_range, coarse_interval, column_problem, compactable_days,
    count_of, count_own_rows, count_waiting, counters, cuid_clock, cuid_of, current_clock, cut_range, cutoff_clock, day_bytes,
    day_clock, day_constraint, days_to_compact, days_to_unpack, days_to_verify, default_pack_after, deletion,
    deletion_clock, deletion_limit, dependent_object, describe_deletion, describe_grants, describe_index, describe_policy,
    drop_views,     due_precision, due_tablespace, effective_retention, estimated_rows, expired, expired_auditlog_partitions,
    extension_table, find_tables, fine_until, foreign_children, format_day, format_options, format_time, free_name,
    groups_to_copy, has_archive, has_begun, has_own_rows, has_same_columns, has_timeout, hypertables,
    import_columns, insert_paths, is_overdue, is_preloaded, is_settled, is_shared, is_transient, item_names,
    item_usage, kept_items, key_columns, known_items, last_values, library_list, library_setting, list_partitions,
    list_ranges, load_guards, lock_class, long_transactions, may_create_in, may_repack, may_take_up, measure_items,
    merged_options, met_damage, migrate_command, minimum_time, missing_auditlog_ranges, missing_foreign_keys,
    missing_indexes, missing_options, missing_ranges, missing_route_triggers, most_partitions, nearest, new_columns,
    new_policy, new_retention, new_tables, next_existing_range, not_packable, object_list, overlapping,
    overriding_roles, own_children, own_column, own_pages, packable_partitions, packed_columns, packed_table,
    parent_list, parse_period, partition_bounds, partition_name, partitions_to_split, patient_lock_timeout,
    plan_setup, preload_command, preview, preview_parent, preview_steps, privileges, probable_rows, range,
    range_support, ranges_of_day, refuse, renamed_column, require_managed, require_owner, require_parent,
    require_routed, role_name, row_triggers, rows_before, running_transactions, schema_problem, session_libraries,
    setting_command, settings_grant, setup_command, short_lock_timeout, span_seconds, statistics, stored_keys,
    stored_paths, stored_setting, stored_texts, stored_values, tablespace_of, targets_of, time_clock, time_ns,
    tool_triggers, trusts_owner, unaligned_partitions, unfinished_indexes, unindexed_partitions, unlike,
    unneeded_archive_tables, unneeded_copies, verify_archive, verify_auditlog, verify_clock_limits, verify_columns,
    verify_deleted_items, verify_interval, verify_not_in_other_care, verify_policy, verify_retention,
    verify_retention_action, verify_table, verify_tablespace, verify_time_precision, version, waiting_clock, wants_analyze,
    waiting_days, waiting_partitions, waiting_rows, waiting_span, wanted_ranges, wasteful_days, why_no_archive,
    why_not_packable, why_unfit, with_library, zabbix_setting, zabbix_table, zabbix_tables}');

-- nobody but that owner and monitoring reads the log and what was lost
REVOKE ALL ON ALL TABLES IN SCHEMA zbxhist FROM PUBLIC;
GRANT SELECT
    ON zbxhist.parent_config, zbxhist.auditlog_config, zbxhist.managed_schema, zbxhist.parent_state, zbxhist.partition_state, zbxhist.stray_mark,
       zbxhist.step_problem, zbxhist.check_summary, zbxhist.packed_day, zbxhist.archive_copy, zbxhist.archive_mark, zbxhist.packed_change, zbxhist.verified_day,
       zbxhist.import_slice, zbxhist.parents, zbxhist.partitions, zbxhist.partitions_by_day, zbxhist.status, zbxhist.progress
    TO PUBLIC;
GRANT SELECT ON zbxhist.maintenance_log, zbxhist.maintenance_by_day TO pg_monitor, pg_database_owner;
GRANT INSERT, DELETE ON zbxhist.maintenance_log TO pg_database_owner;
GRANT SELECT, INSERT, UPDATE, DELETE
    ON zbxhist.parent_config, zbxhist.auditlog_config, zbxhist.managed_schema, zbxhist.parent_state, zbxhist.partition_state, zbxhist.stray_mark,
       zbxhist.step_problem, zbxhist.check_summary, zbxhist.packed_day, zbxhist.archive_copy, zbxhist.archive_mark, zbxhist.packed_change, zbxhist.verified_day,
       zbxhist.left_out, zbxhist.lost_values, zbxhist.import_slice
    TO pg_database_owner;
