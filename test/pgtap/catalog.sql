-- The catalog surface of the extension: what is there, who may use it, that
-- everything is described, and that nothing can be led astray by search_path.
\set ON_ERROR_STOP 1
BEGIN;
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION IF NOT EXISTS zbxhist;
CREATE EXTENSION IF NOT EXISTS zbxhist_migrate;
SELECT no_plan();

CREATE TEMP VIEW member_functions AS
SELECT p.*, p.oid::regprocedure::text AS signature, l.lanname, e.extname
  FROM pg_depend d
  JOIN pg_extension e ON e.oid = d.refobjid AND d.refclassid = 'pg_extension'::regclass
                     AND e.extname IN ('zbxhist', 'zbxhist_migrate')
  JOIN pg_proc p ON p.oid = d.objid AND d.classid = 'pg_proc'::regclass
  JOIN pg_language l ON l.oid = p.prolang
 WHERE d.deptype = 'e';
CREATE TEMP VIEW member_relations AS
SELECT k.*, k.oid::regclass::text AS label
  FROM pg_depend d
  JOIN pg_extension e ON e.oid = d.refobjid AND d.refclassid = 'pg_extension'::regclass
                     AND e.extname IN ('zbxhist', 'zbxhist_migrate')
  JOIN pg_class k ON k.oid = d.objid AND d.classid = 'pg_class'::regclass
 WHERE d.deptype = 'e';

-- what is public, by name, arguments, volatility and parallel marking
CREATE TEMP TABLE wanted (name name, arguments text, result text, kind "char", volatility "char", parallel "char", public boolean);
INSERT INTO wanted VALUES
    ('setup', 'schema_name name DEFAULT NULL::name, history_retention interval DEFAULT NULL::interval, trends_retention interval DEFAULT NULL::interval, premake integer DEFAULT NULL::integer, pack_after interval DEFAULT NULL::interval, move_existing boolean DEFAULT NULL::boolean, configure_zabbix boolean DEFAULT false, dry_run boolean DEFAULT false, accept_deletion boolean DEFAULT false, never_pack boolean DEFAULT false, history_interval interval DEFAULT NULL::interval, max_age interval DEFAULT NULL::interval, max_ahead interval DEFAULT NULL::interval',
     'TABLE(parent regclass, action text, detail text)', 'f', 'v', 'u', false),
    ('create_parent', 'parent regclass, partition_interval interval DEFAULT ''1 day''::interval, retention interval DEFAULT NULL::interval, premake integer DEFAULT 3, pack_after interval DEFAULT NULL::interval, move_existing boolean DEFAULT false, accept_deletion boolean DEFAULT false',
     'void', 'f', 'v', 'u', false),
    ('alter_parent', 'parent regclass, partition_interval interval DEFAULT NULL::interval, retention interval DEFAULT NULL::interval, premake integer DEFAULT NULL::integer, pack_after interval DEFAULT NULL::interval, move_existing boolean DEFAULT NULL::boolean, follow_zabbix boolean DEFAULT false, never_pack boolean DEFAULT false, deleted_items text DEFAULT NULL::text, retention_action text DEFAULT NULL::text, retention_schema name DEFAULT NULL::name, time_precision text DEFAULT NULL::text, time_precision_after interval DEFAULT NULL::interval, accept_rounding boolean DEFAULT false, max_age interval DEFAULT NULL::interval, max_ahead interval DEFAULT NULL::interval, out_of_range text DEFAULT NULL::text, any_clock boolean DEFAULT false, packed_tablespace name DEFAULT NULL::name, packed_tablespace_after interval DEFAULT NULL::interval, archive_server name DEFAULT NULL::name, archive_after interval DEFAULT NULL::interval, take_archive boolean DEFAULT false, auto_analyze boolean DEFAULT NULL::boolean, accept_deletion boolean DEFAULT false',
     'void', 'f', 'v', 'u', false),
    ('accept_deletion', 'parent regclass, until timestamp with time zone',
     'void', 'f', 'v', 'u', false),
    ('partition_auditlog', 'parent regclass, retention interval DEFAULT NULL::interval, partition_interval interval DEFAULT NULL::interval, premake integer DEFAULT NULL::integer, dry_run boolean DEFAULT false, accept_deletion boolean DEFAULT false, follow_zabbix boolean DEFAULT false',
     'TABLE(auditlog regclass, action text, detail text)', 'f', 'v', 'u', false),
    ('create_partition', 'parent regclass, day date', 'regclass', 'f', 'v', 'u', false),
    ('pack', 'IN parent regclass, IN day date', NULL, 'p', 'v', 'u', false),
    ('repack', 'IN parent regclass, IN day date', NULL, 'p', 'v', 'u', false),
    ('compact', 'IN parent regclass, IN day date', NULL, 'p', 'v', 'u', false),
    ('unpack', 'IN parent regclass, IN day date', NULL, 'p', 'v', 'u', false),
    ('archive', 'IN parent regclass, IN day date', NULL, 'p', 'v', 'u', false),
    ('unarchive', 'IN parent regclass, IN day date', NULL, 'p', 'v', 'u', false),
    ('drop_day', 'IN parent regclass, IN day date, IN accept_deletion boolean DEFAULT false', NULL, 'p', 'v', 'u', false),
    ('detach_day', 'IN parent regclass, IN day date, IN schema_name name DEFAULT NULL::name', NULL, 'p', 'v', 'u', false),
    ('verify', 'parent regclass', 'TABLE(day regclass, itemid bigint, clock integer, problem text)', 'f', 'v', 'u', false),
    ('run_maintenance', 'IN parent regclass DEFAULT NULL::regclass', NULL, 'p', 'v', 'u', false),
    ('undo', 'IN parent regclass', NULL, 'p', 'v', 'u', false),
    ('adopt_partitions', 'IN parent regclass, IN dry_run boolean DEFAULT false, IN accept_deletion boolean DEFAULT false', NULL, 'p', 'v', 'u', false),
    ('adopt_hypertable', 'IN hypertable regclass, IN dry_run boolean DEFAULT false', NULL, 'p', 'v', 'u', false),
    ('release_hypertable', 'hypertable regclass', 'regclass', 'f', 'v', 'u', false),
    ('import', 'IN source regclass, IN parent regclass, IN rows_a_second integer DEFAULT NULL::integer, IN dry_run boolean DEFAULT false', NULL, 'p', 'v', 'u', false),
    ('preview', 'parent regclass DEFAULT NULL::regclass', 'TABLE(table_name regclass, action text, partition text, from_time timestamp with time zone, to_time timestamp with time zone, rows bigint, bytes bigint)', 'f', 'v', 's', true),
    ('check', '', 'TABLE(severity text, code text, object text, message text, hint text)', 'f', 'v', 'r', true),
    ('route', '', 'trigger', 'f', 'v', 'u', false),
    ('list_partitions', 'parent regclass', 'TABLE(partition regclass, from_clock bigint, to_clock bigint)', 'f', 's', 's', true),
    ('partition_bounds', 'partition regclass, OUT from_clock bigint, OUT to_clock bigint', 'record', 'f', 's', 's', true),
    ('insert_paths', '', 'TABLE(parent regclass, path text, statements bigint, values_stored bigint, values_routed bigint)', 'f', 'v', 's', true),
    ('version', '', 'text', 'f', 's', 's', true);
SELECT results_eq(
    format('SELECT replace(pg_get_function_arguments(p.oid), %L, %L), pg_get_function_result(p.oid), p.prokind, p.provolatile, p.proparallel FROM member_functions p WHERE p.proname = %L', 'OUT partition regclass', 'OUT partition regclass', w.name),
    format('SELECT %L::text, %L::text, %L::"char", %L::"char", %L::"char"', w.arguments, w.result, w.kind, w.volatility, w.parallel),
    format('zbxhist.%s is as documented', w.name))
  FROM wanted w ORDER BY w.name;
SELECT is(has_function_privilege('public', p.oid, 'EXECUTE'), w.public, format('PUBLIC and zbxhist.%s', w.name))
  FROM wanted w JOIN member_functions p ON p.proname = w.name ORDER BY w.name;

-- all that PUBLIC may call; whatever is added here changes nothing and tells no secrets
SELECT bag_eq(
    $$SELECT proname::text FROM member_functions
       WHERE extname = 'zbxhist' AND has_function_privilege('public', oid, 'EXECUTE')$$,
    $$SELECT unnest('{
        attached_object,auditlog_index,auditlog_policy,check_auditlogs,check_deletion,deletion_policy,native_bounds,verify_auditlog,
        privileges,expired,count_of,
        refuse,require_routed,check_zabbix,describe_index,index_list,format_day,
        is_transient,long_transactions,missing_indexes,missing_options,missing_route_triggers,object_list,
        setting_command,settings_grant,unaligned_partitions,unindexed_partitions,unlike,
        foreign_children,verify_age,
        changed_policy,deletion,deletion_clock,deletion_limit,bounds_condition,overlapping,days_to_verify,library_setting,describe_deletion,schema_problem,verify_retention_action,merged_options,new_retention,plan_setup,
        probable_rows,rows_before,rows_left,rows_older,zabbix_table,
        check,check_clocks,check_database,check_maintenance,check_packed,check_partitions,check_retention,due_tablespace,may_create_in,tablespace_of,
        archivable_days,archive_origin,archive_table,archives_to_reach,check_archive,groups_to_copy,has_archive,has_timeout,unneeded_archive_tables,unneeded_copies,why_no_archive,
        day_bytes,day_clock,days_to_unpack,may_repack,compactable_days,free_name,days_to_compact,wasteful_days,has_same_columns,new_columns,is_settled,list_ranges,not_packable,
        packable_partitions,packed_table,waiting_days,why_not_packable,
        load_guards,oldest_blocker,check_parent,own_children,drop_views,most_partitions,why_unfit,column_problem,packed_columns,
        clock_before,coarse_interval,cut_range,default_pack_after,dependent_object,fine_until,partitions_to_split,ranges_of_day,
        span_seconds,check_rows,time_clock,time_ns,last_values,statistics,check_triggers,own_column,unfollowed_objects,
        buckets,buckets,last_values,last_values,minimum_time,nearest,nearest,range,range,
        statistics,statistics,item_usage,item_usage,
        clock_range,count_waiting,current_clock,cutoff_clock,describe_grants,
        describe_policy,due_precision,effective_retention,estimated_rows,find_tables,format_options,is_preloaded,
        format_time,insert_paths,has_own_rows,list_partitions,lock_class,missing_ranges,new_policy,
        new_tables,next_existing_range,own_pages,parent_list,parse_period,partition_bounds,
        partition_name,patient_lock_timeout,preload_command,preview,preview_parent,targets_of,has_begun,require_managed,require_owner,require_parent,
        role_name,running_transactions,unnoted_columns,verify_options,is_verified,describe_left_out,describe_loss,place_below_mark,lock_holders,most_tries,session_libraries,short_lock_timeout,stored_values,verify_columns,
        verify_interval,verify_not_in_other_care,verify_policy,verify_table,version,waiting_clock,
        waiting_partitions,waiting_rows,waiting_span,wanted_ranges,wants_analyze,tool_triggers,zabbix_setting,zabbix_tables,
        check_migrations,hypertables,import_columns,key_columns,migrate_command,catalog_of,count_own_rows,may_take_up,stored_setting,trusts_owner,item_names,measure_items,stored_texts,kept_items,known_items}'::text[])$$,
    'what PUBLIC may call');
SELECT bag_eq(
    $$SELECT proname::text FROM member_functions
       WHERE extname = 'zbxhist_migrate' AND has_function_privilege('public', oid, 'EXECUTE')$$,
    $$SELECT unnest('{
        source_query,verify_source,
        adoption_gaps,adoption_policy,native_obstacle,native_partitions,verify_native,
        add_checksums,check_timescaledb,former_name,open_slices,expiring_slices,verify_hypertable,verify_replaceable}'::text[])$$,
    '... and of migrations');
-- this one is called when the library is missing
SELECT is_empty(
    $$SELECT signature FROM member_functions WHERE prosrc ~ 'RAISE EXCEPTION' AND proname <> 'before_change'$$,
    'errors are raised by refuse(), which leaves out lines of context');
SELECT is_empty(
    $$SELECT signature FROM member_functions WHERE proacl IS NULL$$,
    'every function has explicit privileges');
SELECT is_empty(
    $$SELECT signature, g.grantee::regrole FROM member_functions, aclexplode(proacl) g
       WHERE g.grantee NOT IN (0, proowner, 'pg_database_owner'::regrole)
         AND NOT (g.grantee = 'pg_monitor'::regrole AND proname IN ('metrics', 'table_metrics'))$$,
    'functions are granted to PUBLIC or to the owner of the database only, but what monitoring reads');
SELECT is_empty(
    $$SELECT signature FROM member_functions
       WHERE NOT has_function_privilege('public', oid, 'EXECUTE')
         AND NOT EXISTS (SELECT FROM aclexplode(proacl) g WHERE g.grantee = 'pg_database_owner'::regrole)$$,
    'the owner of the database may call everything');

-- safety
SELECT is_empty($$SELECT signature FROM member_functions WHERE prosecdef$$, 'no SECURITY DEFINER');
SELECT is_empty(
    $$SELECT signature FROM member_functions
       WHERE prokind = 'f' AND lanname <> 'c' AND prosrc !~ '^ ?SELECT \d+ $'
         -- calls whose schema is named, and two expressions whose operators are
         AND prosrc !~ '^\s*SELECT( \*\s+FROM)? zbxhist(_internal)?\.[\w\s.,()]+$'
         AND NOT (proname IN ('time_clock', 'time_ns') AND prosrc !~ ' [-+*/%<>=]+ ')
         AND NOT coalesce('search_path=pg_catalog, pg_temp' = ANY (proconfig), false)$$,
    'every function pins its search_path');
SELECT is_empty(
    $$SELECT signature FROM member_functions
       WHERE prokind = 'p' AND lanname <> 'c' AND prosrc !~ '^\s*(DECLARE[^;]*;([^;]*;)*?\s*)?BEGIN\s+(PERFORM zbxhist_internal\.require_own_transactions\(\);\s+(--[^\n]*\s+PERFORM zbxhist_internal\.set_timeouts\(\);\s+)?COMMIT;\s+SET TRANSACTION[^;]*;\s+PERFORM pg_catalog\.set_config|CALL zbxhist_internal\.next_transaction|LOOP\s+CALL zbxhist_internal\.next_transaction)'$$,
    'every procedure begins with a transaction of a safe search_path');
SELECT is_empty(
    $$SELECT signature, d[1] FROM member_functions, regexp_matches(substring(prosrc FROM 'DECLARE(.*?)\sBEGIN\s'), '^ +\w+ +([^;]+);', 'gn') d
       WHERE prokind = 'p' AND d[1] !~ '^(pg_catalog\.|zbxhist\.|(integer|boolean|double precision)\M)'$$,
    'types of variables of procedures are not looked up in the caller''s search_path');
SELECT is_empty(
    $$SELECT signature FROM member_functions WHERE proparallel <> 'u'
       AND prosrc ~ '\m(INSERT|UPDATE|DELETE|TRUNCATE|DROP|CREATE|LOCK TABLE)\M' AND prosrc !~ 'format\(|RAISE|CALL|SELECT'$$,
    'no writer is marked parallel safe');
SELECT is_empty(
    $$SELECT signature FROM member_functions WHERE lanname = 'c' AND probin <> '$libdir/zbxhist'$$,
    'C functions are in the library of the extension');

-- descriptions
SELECT is_empty(
    $$SELECT signature FROM member_functions WHERE pronamespace = 'zbxhist'::regnamespace AND obj_description(oid, 'pg_proc') IS NULL$$,
    'every function for users has a comment');
SELECT is_empty(
    $$SELECT label FROM member_relations WHERE relkind IN ('r', 'v', 'm', 'f') AND obj_description(oid, 'pg_class') IS NULL$$,
    'every table and view has a comment');
SELECT is_empty(
    $$SELECT label, a.attname FROM member_relations k JOIN pg_attribute a ON a.attrelid = k.oid
       WHERE k.relkind IN ('r', 'v', 'm', 'f') AND a.attnum > 0 AND NOT a.attisdropped
         AND col_description(k.oid, a.attnum) IS NULL$$,
    'every column has a comment');
SELECT isnt(obj_description(s::regnamespace, 'pg_namespace'), NULL, format('schema %s has a comment', s))
  FROM unnest('{zbxhist,zbxhist_internal,zbxhist_packed}'::text[]) s;

-- what \df zbxhist.* shows is what a user may want
SELECT bag_eq(
    $$SELECT DISTINCT proname::text FROM member_functions
       WHERE extname = 'zbxhist' AND pronamespace = 'zbxhist'::regnamespace$$,
    $$SELECT unnest('{
        accept_deletion,add,alter_parent,archive,buckets,check,compact,create_parent,create_partition,delete_item,delete_values,detach_day,drop_day,insert_paths,item_usage,
        last_values,list_partitions,metrics,minimum_time,nearest,pack,partition_auditlog,partition_bounds,preview,range,repack,route,run_maintenance,
        salvage,setup,statistics,unarchive,undo,unpack,verify,version}'::text[])$$,
    'functions for users are in schema zbxhist, the others in zbxhist_internal');
SELECT bag_eq(
    $$SELECT proname::text FROM member_functions
       WHERE extname = 'zbxhist_migrate' AND pronamespace = 'zbxhist'::regnamespace$$,
    $$SELECT unnest('{adopt_hypertable,adopt_partitions,import,release_hypertable}'::text[])$$,
    '... so are those of migrations');
SELECT is_empty(
    $$SELECT pg_describe_object(d.classid, d.objid, 0) FROM pg_depend d
        JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'zbxhist_migrate'
       WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' AND d.classid <> 'pg_proc'::regclass$$,
    'the extension of migrations has functions only');

-- tables and views
SELECT bag_eq(
    $$SELECT relname::text FROM member_relations WHERE relkind IN ('r', 'v')$$,
    $$VALUES ('parent_config'), ('auditlog_config'), ('parent_state'), ('managed_schema'), ('maintenance_log'),
             ('partition_state'), ('stray_mark'), ('packed_day'), ('archive_copy'), ('archive_mark'), ('packed_change'), ('step_problem'), ('check_summary'), ('left_out'), ('lost_values'), ('verified_day'), ('import_slice'), ('parents'), ('partitions'), ('partitions_by_day'),
             ('status'), ('progress')$$,
    'tables and views');
SELECT bag_eq(
    $$SELECT k.relname::text, g.privilege_type FROM member_relations k, aclexplode(k.relacl) g WHERE g.grantee = 0$$,
    $$VALUES ('parent_config', 'SELECT'), ('auditlog_config', 'SELECT'), ('parent_state', 'SELECT'), ('managed_schema', 'SELECT'),
             ('partition_state', 'SELECT'), ('stray_mark', 'SELECT'), ('packed_day', 'SELECT'), ('archive_copy', 'SELECT'), ('archive_mark', 'SELECT'), ('packed_change', 'SELECT'), ('step_problem', 'SELECT'), ('check_summary', 'SELECT'), ('verified_day', 'SELECT'), ('import_slice', 'SELECT'), ('parents', 'SELECT'), ('partitions', 'SELECT'),
             ('partitions_by_day', 'SELECT'), ('status', 'SELECT'), ('progress', 'SELECT')$$,
    'PUBLIC may only look');
SELECT columns_are('zbxhist', 'parents', '{parent,partition_interval,premake,retention,pack_after,move_existing,routing,created_at,deleted_items,retention_action,retention_schema,time_precision,time_precision_after,max_age,max_ahead,out_of_range,packed_tablespace,packed_tablespace_after,archive_server,archive_after,auto_analyze,effective_retention,retention_source}'::name[]);
SELECT columns_are('zbxhist', 'partitions', '{parent,partition,kind,from_clock,to_clock,from_time,to_time,state,rows,bytes,bytes_per_value,tablespace}'::name[]);
SELECT columns_are('zbxhist', 'partitions_by_day', '{parent,from_time,to_time,future,heap,packed,rows,bytes,bytes_per_value}'::name[]);
SELECT ok(NOT has_table_privilege('public', 'zbxhist.maintenance_log', 'SELECT'), 'the log is not for everybody');
SELECT columns_are('zbxhist', 'status', '{parent,partitions,packed_days,partitions_ahead,covered_until,rows_waiting,rows_waiting_exact,last_run,last_success,last_error,last_error_at,next_drop,values_routed,values_kept,batches,values_fast,saved_bytes}'::name[]);
SELECT columns_are('zbxhist', 'progress', '{parent,action,partition,pid,started_at,rows,percent,rows_left,time_left}'::name[]);
SELECT columns_are('zbxhist', 'maintenance_log', '{id,started_at,parent,action,relation,rows,bytes,duration,lock_wait,sqlstate,message}'::name[]);
SELECT is((SELECT evtenabled::text || evtevent FROM pg_event_trigger WHERE evtname = 'zbxhist_before_change'), 'Oddl_command_start', 'an event trigger guards packed days');
SELECT is((SELECT evtenabled::text || evtevent FROM pg_event_trigger WHERE evtname = 'zbxhist_after_change'), 'Oddl_command_end', 'another one notes what new columns contain in them');
SELECT is((SELECT evtenabled::text || evtevent FROM pg_event_trigger WHERE evtname = 'zbxhist_before_rewrite'), 'Otable_rewrite', '... also when the table is rewritten by the same command');
SELECT schema_privs_are('zbxhist', 'public', '{USAGE}'::text[]);
SELECT schema_privs_are('zbxhist_packed', 'public', '{USAGE}'::text[]);
SELECT schema_owner_is('zbxhist', 'pg_database_owner');
SELECT schema_owner_is('zbxhist_packed', 'pg_database_owner');
SELECT isnt(obj_description('zbxhist_packed'::regnamespace, 'pg_namespace'), NULL, 'the schema of packed days has a comment');

-- the dump: the policy is dumped, what is about this server is not
SELECT bag_eq(
    $$SELECT c.oid::regclass::text, d.condition
        FROM pg_extension e, unnest(e.extconfig, e.extcondition) AS d (oid, condition)
        JOIN pg_class c ON c.oid = d.oid WHERE e.extname = 'zbxhist'$$,
    $$VALUES ('zbxhist.parent_config', 'WHERE EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = parent)'),
             ('zbxhist.auditlog_config', 'WHERE EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = parent)'),
             ('zbxhist.managed_schema', ''),
             ('zbxhist.lost_values', 'WHERE EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = parent)'),
             ('zbxhist.packed_day', 'WHERE EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = parent) AND EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = day)'),
             ('zbxhist.archive_mark', 'WHERE EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = groups)'),
             ('zbxhist.archive_copy', 'WHERE EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = parent) AND EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = groups) AND (day IS NULL OR EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = day))')$$,
    'pg_dump takes the policy along');
SELECT is_empty(
    $$SELECT k.relname, a.attname FROM member_relations k JOIN pg_attribute a ON a.attrelid = k.oid
       WHERE k.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
         AND a.atttypid IN ('regproc'::regtype, 'regprocedure'::regtype, 'regoper'::regtype, 'regoperator'::regtype,
                            'regconfig'::regtype, 'regdictionary'::regtype, 'regnamespace'::regtype, 'regcollation'::regtype)$$,
    'no column keeps pg_upgrade from working');
SELECT is((SELECT extnamespace::regnamespace::text FROM pg_extension WHERE extname = 'zbxhist'), 'zbxhist', 'in schema zbxhist');
SELECT is((SELECT extrelocatable FROM pg_extension WHERE extname = 'zbxhist'), false, 'not relocatable');
SELECT results_eq(
    $$SELECT name, trusted, relocatable, schema, requires FROM pg_available_extension_versions
       WHERE name IN ('zbxhist', 'zbxhist_migrate') AND version = '1.0' ORDER BY name$$,
    $$VALUES ('zbxhist'::name, true, false, 'zbxhist'::name, NULL::name[]),
             ('zbxhist_migrate', true, false, 'zbxhist', '{zbxhist}')$$,
    'trusted');

-- CREATE EXTENSION does not look into bodies
SET LOCAL check_function_bodies = on;
CREATE FUNCTION pg_temp.problem_of(definition text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE definition;
    RETURN NULL;
EXCEPTION WHEN OTHERS THEN
    RETURN SQLERRM;
END
$$;
SELECT is_empty(
    $$SELECT f.signature, p FROM member_functions f, pg_temp.problem_of(pg_get_functiondef(f.oid)) p
       WHERE f.lanname IN ('sql', 'plpgsql') AND p IS NOT NULL$$,
    'every function has a body that can be parsed');

SELECT * FROM finish();
ROLLBACK;
