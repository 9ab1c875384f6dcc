-- dist/sharding/coordinator.sql: turns Zabbix's history tables, which must be empty, into
-- foreign tables that are distributed over several nodes by item; see docs/sharding.md.
-- Run it as the owner of the database, after CREATE SERVER and CREATE USER MAPPING for each node:
--
--     psql -d zabbix -v servers=node1,node2 -f dist/sharding/coordinator.sql
\set ON_ERROR_STOP on
BEGIN;
SELECT pg_catalog.set_config('zbxhist_sharding.servers', :'servers', true);

CREATE SCHEMA zbxhist_sharding;
COMMENT ON SCHEMA zbxhist_sharding IS 'History tables on several nodes';

-- Zabbix sends a transaction again if its connection is lost, and drops its values after
-- most other errors.  So if a node does not answer, the session is ended.
CREATE FUNCTION zbxhist_sharding.before_insert()
RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    node    regclass;
    problem text;
BEGIN
    -- a key that exists is an error
    PERFORM set_config('exit_on_error', 'off', true);
    FOR node IN
        SELECT t.ftrelid FROM pg_foreign_table t JOIN pg_class k ON k.oid = t.ftrelid
         WHERE k.relnamespace = 'zbxhist_sharding'::regnamespace AND starts_with(k.relname, 'alive_')
    LOOP
        BEGIN
            EXECUTE format('SELECT FROM %s', node);
        EXCEPTION WHEN OTHERS THEN
            problem := SQLERRM;
            PERFORM set_config('exit_on_error', 'on', true);
            RAISE EXCEPTION 'a node does not answer: %', problem USING ERRCODE = '08006';
        END;
    END LOOP;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION zbxhist_sharding.before_insert() IS
'Ends the session if a node does not answer, so that Zabbix sends its transaction again';

-- From now on only the commit can fail.  If nodes have committed by then, their
-- keys are duplicates when Zabbix sends the values again.
CREATE FUNCTION zbxhist_sharding.after_insert()
RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM set_config('exit_on_error', 'on', true);
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION zbxhist_sharding.after_insert() IS
'Has a commit that fails on some node end the session';

DO $$
DECLARE
    servers CONSTANT name[] := string_to_array(current_setting('zbxhist_sharding.servers'), ',');
    history CONSTANT text[] := '{history,history_uint,history_str,history_log,history_text,history_bin,history_json}';
    source  record;
    views   text[] := '{}';
    filled  boolean;
BEGIN
    FOR node IN 1 .. cardinality(servers) LOOP
        EXECUTE format('CREATE FOREIGN TABLE zbxhist_sharding.%I (alive boolean)'
                       ' SERVER %I OPTIONS (schema_name ''zbxhist_node'', table_name ''alive'')',
                       'alive_' || servers[node], servers[node]);
        EXECUTE format('CREATE FOREIGN TABLE zbxhist_sharding.%I (severity text, code text, object text, message text, hint text)'
                       ' SERVER %I OPTIONS (schema_name ''zbxhist_node'', table_name ''findings'')',
                       'findings_' || servers[node], servers[node]);
        views := views || format('SELECT %L::text AS node, f.* FROM zbxhist_sharding.%I f',
                                 servers[node], 'findings_' || servers[node]);
    END LOOP;
    EXECUTE 'CREATE VIEW zbxhist_sharding.findings AS ' || array_to_string(views, ' UNION ALL ');
    COMMENT ON VIEW zbxhist_sharding.findings IS 'zbxhist.check() of all nodes';
    FOR source IN
        SELECT k.oid::regclass AS parent, n.nspname, k.relname
          FROM pg_class k
          JOIN pg_namespace n ON n.oid = k.relnamespace
         WHERE k.relname = ANY (history) AND k.relkind = 'r' AND n.nspname = current_schema()
         ORDER BY k.relname
    LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM %s)', source.parent) INTO filled;
        IF filled THEN
            RAISE EXCEPTION 'table % has rows', source.parent
                USING HINT = 'Export them, and insert them when the tables are on the nodes.';
        END IF;
        EXECUTE format('ALTER TABLE %s RENAME TO zbxhist_former', source.parent);
        EXECUTE format('CREATE TABLE %I.%I (LIKE %I.zbxhist_former INCLUDING DEFAULTS INCLUDING COMMENTS) PARTITION BY HASH (itemid)',
                       source.nspname, source.relname, source.nspname);
        EXECUTE format('DROP TABLE %I.zbxhist_former', source.nspname);
        FOR node IN 1 .. cardinality(servers) LOOP
            EXECUTE format('CREATE FOREIGN TABLE zbxhist_sharding.%I PARTITION OF %I.%I'
                           ' FOR VALUES WITH (MODULUS %s, REMAINDER %s)'
                           ' SERVER %I OPTIONS (schema_name %L, table_name %L, batch_size ''1000'', fetch_size ''1000'', async_capable ''true'', use_remote_estimate ''true'')',
                           source.relname || '_' || servers[node], source.nspname, source.relname,
                           cardinality(servers), node - 1, servers[node], source.nspname, source.relname);
        END LOOP;
        EXECUTE format('CREATE TRIGGER zbxhist_before_insert BEFORE INSERT ON %I.%I'
                       ' FOR EACH STATEMENT EXECUTE FUNCTION zbxhist_sharding.before_insert()', source.nspname, source.relname);
        EXECUTE format('CREATE TRIGGER zbxhist_after_insert AFTER INSERT ON %I.%I'
                       ' FOR EACH STATEMENT EXECUTE FUNCTION zbxhist_sharding.after_insert()', source.nspname, source.relname);
    END LOOP;
    -- GROUP BY itemid is done on the nodes
    EXECUTE format('ALTER DATABASE %I SET enable_partitionwise_aggregate = on', current_database());
END
$$;
COMMIT;
