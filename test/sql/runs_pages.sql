--
-- Runs of a statement that is larger than a page share pages with those of others:
-- ten kB take a page and a quarter, not two.
--
LOAD 'zbxhist';
SET client_min_messages = error;
CREATE TABLE history (
    itemid bigint NOT NULL, clock integer NOT NULL DEFAULT 0, value double precision NOT NULL DEFAULT 0,
    ns integer NOT NULL DEFAULT 0, PRIMARY KEY (itemid, clock, ns));
SELECT zbxhist.create_parent('history', '1 hour', retention => '100 years', pack_after => '1 hour', ingest => 'runs');
SELECT zbxhist_internal.create_runs('history', 1000000800, 1000004400) AS day \gset
-- in one transaction, so that no worker merges them meanwhile
BEGIN;
DO $$ BEGIN
    FOR i IN 1..40 LOOP
        INSERT INTO history SELECT g, 1000000800 + i, hashint4(g + i) * 99991.0 / 8, abs(hashint4(g * i) % 1000000000)
          FROM generate_series(1, 1000) g;
    END LOOP;
END $$;
SELECT count(*) > 40 AS larger, count(*) FILTER (WHERE pg_column_size(run) > 7000) >= 39 AS filled,
       pg_relation_size(:'day') / current_setting('block_size')::integer BETWEEN 40 AND 65 AS shared
  FROM :day;
COMMIT;
SET zbxhist.allow_packed_drop = on;
DROP TABLE history CASCADE;
SELECT zbxhist_internal.forget_dropped();
RESET session_preload_libraries;
