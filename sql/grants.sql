-- sql/grants.sql
--
-- The owner of the database may call every function.  All roles may call those that are not PARALLEL
-- UNSAFE: these change nothing and reveal no secrets.  test/pgtap/catalog.sql has the list.

-- Grants EXECUTE on the functions of an extension.  Update scripts call it, too.
CREATE FUNCTION zbxhist_internal.grant_routines(extension name) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    routine record;
BEGIN
    FOR routine IN
        SELECT p.oid::regprocedure AS signature,
               CASE WHEN p.proparallel = 'u' THEN 'pg_database_owner'
                    WHEN p.proname IN ('metrics', 'table_metrics') THEN 'pg_monitor, pg_database_owner'
                    ELSE 'PUBLIC' END AS callers
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

SELECT zbxhist_internal.grant_routines('zbxhist');

-- only the owner of the database and pg_monitor may read the log and the lost values
REVOKE ALL ON ALL TABLES IN SCHEMA zbxhist FROM PUBLIC;
GRANT SELECT
    ON zbxhist.parent_config, zbxhist.auditlog_config, zbxhist.managed_schema, zbxhist.parent_state, zbxhist.partition_state, zbxhist.stray_mark,
       zbxhist.step_problem, zbxhist.check_summary, zbxhist.packed_day, zbxhist.archive_copy, zbxhist.archive_mark, zbxhist.packed_change, zbxhist.verified_day,
       zbxhist.import_slice, zbxhist.parents, zbxhist.partitions, zbxhist.partitions_by_day, zbxhist.status, zbxhist.progress
    TO PUBLIC;
GRANT SELECT ON zbxhist.maintenance_log TO pg_monitor, pg_database_owner;
GRANT INSERT, DELETE ON zbxhist.maintenance_log TO pg_database_owner;
GRANT SELECT, INSERT, UPDATE, DELETE
    ON zbxhist.parent_config, zbxhist.auditlog_config, zbxhist.managed_schema, zbxhist.parent_state, zbxhist.partition_state, zbxhist.stray_mark,
       zbxhist.step_problem, zbxhist.check_summary, zbxhist.packed_day, zbxhist.archive_copy, zbxhist.archive_mark, zbxhist.packed_change, zbxhist.verified_day,
       zbxhist.left_out, zbxhist.lost_values, zbxhist.import_slice
    TO pg_database_owner;
