-- The work of a step of maintenance does not grow with the number of partitions: measured by
-- the number of calls of the functions that it uses.
\a \t
\set VERBOSITY terse
\set SHOW_CONTEXT never
SET client_min_messages = error;
SET track_functions = 'all';
LOAD 'zbxhist';
CREATE TABLE history (
    itemid bigint NOT NULL, clock integer NOT NULL DEFAULT 0, value double precision NOT NULL DEFAULT 0,
    ns integer NOT NULL DEFAULT 0, PRIMARY KEY (itemid, clock, ns));
SELECT zbxhist.create_parent('history', '1 hour', retention => '100 years', pack_after => '1 hour');

-- two days of hours that are over, and a value that waits in the table itself
SELECT count(zbxhist_internal.create_range('history', c, c + 3600))
  FROM generate_series(86400, 3 * 86400 - 3600, 3600) c;
INSERT INTO history (itemid, clock, value) SELECT 1, c, c FROM generate_series(86400, 3 * 86400 - 1, 600) c;
SET zbxhist.enable_routing = off;
INSERT INTO history (itemid, clock, value) VALUES (2, 86400, 2);
RESET zbxhist.enable_routing;
SELECT count(*) FROM ONLY history;
-- what a step answers, and how often it has called what looks at one partition
CREATE FUNCTION calls_of(step text, relation regclass) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
    seen   bigint;
    before bigint[] := '{}';
    names  constant text[] := '{not_packable,has_same_columns,missing_indexes,unlike}';
    answer text[];
BEGIN
    FOR i IN 1 .. 4 LOOP
        SELECT sum(calls) INTO seen FROM pg_stat_xact_user_functions WHERE funcname = names[i];
        before[i] := coalesce(seen, 0);
    END LOOP;
    answer := ARRAY[zbxhist_internal.run_step('history', step, relation)];
    FOR i IN 1 .. 4 LOOP
        SELECT sum(calls) INTO seen FROM pg_stat_xact_user_functions WHERE funcname = names[i];
        answer := answer || format('%s %s', names[i], coalesce(seen, 0) - before[i]);
    END LOOP;
    RETURN answer;
END $$;

-- packing an hour
SELECT unnest(calls_of('pack', 'history_p19700102_0100'));

-- an index and privileges that a partition to come is without
SELECT zbxhist_internal.create_range('history', 2000000000 / 3600 * 3600, 2000000000 / 3600 * 3600 + 3600);
CREATE INDEX ON ONLY history (value);
GRANT SELECT ON history TO PUBLIC;
SELECT unnest(calls_of('index', 'history_p20330518_0300'));
SELECT unnest(calls_of('align', 'history_p19700102_0100'));

-- nothing is the matter with one that has what it needs
SELECT unnest(calls_of('align', 'history_p19700102_0100'));
DROP FUNCTION calls_of;
SET zbxhist.allow_packed_drop = on;
DROP TABLE history CASCADE;
CALL zbxhist.run_maintenance();
RESET session_preload_libraries;
