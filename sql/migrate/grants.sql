-- sql/migrate/grants.sql
--
-- As sql/grants.sql.

SELECT zbxhist_internal.grant_routines('zbxhist_migrate', '{
    add_checksums, adoption_gaps, adoption_losses, adoption_policy, check_timescaledb, describe_import_triggers, former_name,
    insert_triggers, is_partman_template, native_bounds, native_obstacle, native_partitions, partman_entry,
    source_query, verify_hypertable, verify_native, verify_replaceable, verify_source}');
