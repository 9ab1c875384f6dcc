-- A statement_timeout of the role does not end a run of maintenance.  A person's cancel does,
-- and check() reports it.
\a \t
SET TimeZone = 'UTC';
\set SHOW_CONTEXT never
SET client_min_messages = warning;
CREATE TABLE one (itemid bigint NOT NULL, clock integer NOT NULL, value double precision NOT NULL, ns integer NOT NULL, PRIMARY KEY (itemid,clock,ns));
CREATE TABLE two (LIKE one INCLUDING ALL);
SELECT zbxhist.create_parent(t, pack_after => '1 day') FROM unnest('{one,two}'::regclass[]) t;
CREATE VIEW asks AS SELECT severity, code, object, regexp_replace(message, 'it at .* UTC', 'it at TIME') AS message, hint FROM zbxhist.check() WHERE code = 'run_broken_off';
-- the first table takes longer than the timeout
SELECT pg_get_functiondef('zbxhist_internal.step_analyze'::regproc) AS original, pg_get_functiondef('zbxhist_internal.wants_analyze'::regproc) AS condition \gset
CREATE OR REPLACE FUNCTION zbxhist_internal.wants_analyze(parent regclass) RETURNS boolean LANGUAGE sql AS 'SELECT true';
CREATE OR REPLACE FUNCTION zbxhist_internal.step_analyze(parent regclass) RETURNS text
LANGUAGE sql AS $$ SELECT 'done' FROM pg_sleep(greatest(0, 1.1 - extract(epoch FROM clock_timestamp() - statement_timestamp()))) $$;
SET statement_timeout = '1s';
CALL zbxhist.run_maintenance();
SHOW statement_timeout;
SELECT pg_sleep(2);
RESET statement_timeout;
SELECT count(*), bool_and(last_success = last_run) FROM zbxhist.parent_state WHERE parent IN ('one'::regclass, 'two'::regclass);
TABLE asks;

-- a cancel by a person ends it, at the first table, and is told
CREATE OR REPLACE FUNCTION zbxhist_internal.step_analyze(parent regclass) RETURNS text
LANGUAGE sql AS $$ SELECT 'done' FROM pg_cancel_backend(pg_backend_pid()), pg_sleep(10) $$;
CALL zbxhist.run_maintenance();
SELECT parent FROM zbxhist.parent_state WHERE begun_pid IS NOT NULL;
TABLE asks;
-- another one begins with the next
SELECT begun_at AS before FROM zbxhist.parent_state WHERE parent = 'one'::regclass \gset
CREATE OR REPLACE FUNCTION zbxhist_internal.step_analyze(parent regclass) RETURNS text
LANGUAGE plpgsql AS $$ BEGIN IF parent = 'public.one'::regclass THEN PERFORM pg_cancel_backend(pg_backend_pid()), pg_sleep(10); END IF; RETURN 'done'; END $$;
CALL zbxhist.run_maintenance();
SELECT parent, last_run > :'before' AS ended, begun_pid IS NULL AS is_over FROM zbxhist.parent_state WHERE parent IN ('one'::regclass, 'two'::regclass) ORDER BY 1;
-- a connection that another server ends, for whatever reason, ends a step and no run
CREATE OR REPLACE FUNCTION zbxhist_internal.step_analyze(parent regclass) RETURNS text
LANGUAGE plpgsql AS $$ BEGIN IF parent = 'public.one'::regclass THEN RAISE 'ended' USING ERRCODE = current_setting('test.state'); END IF; RETURN 'done'; END $$;
CREATE VIEW ended AS SELECT p.parent, p.step, p.sqlstate, s.begun_pid IS NULL AS is_over FROM zbxhist.step_problem p JOIN zbxhist.parent_state s USING (parent);
SET test.state = '08006';
CALL zbxhist.run_maintenance();
TABLE ended;
SET test.state = '57P05';
CALL zbxhist.run_maintenance();
TABLE ended;
SET test.state = '25P03';
CALL zbxhist.run_maintenance();
TABLE ended;
DROP VIEW ended;
:original;
:condition;
CALL zbxhist.run_maintenance();
TABLE asks;
DROP VIEW asks;
DROP TABLE one, two CASCADE;
CALL zbxhist.run_maintenance();
