-- What maintenance has noted about a partition, or begun, does not stay for ever.
\a \t
SET TimeZone = 'UTC';
\set SHOW_CONTEXT never
SET client_min_messages = warning;
CREATE TABLE history (itemid bigint NOT NULL, clock integer NOT NULL, value double precision NOT NULL, ns integer NOT NULL, PRIMARY KEY (itemid,clock,ns));
SELECT zbxhist.create_parent('history', pack_after => '1 day', premake => 0);
SELECT zbxhist.create_partition('history', d) FROM unnest('{2020-01-05,2020-01-06}'::date[]) d;
INSERT INTO history SELECT i, 1578182400 + d * 86400, i, 0 FROM generate_series(1, 5) i, generate_series(0, 1) d;
-- rows that could not be packed have gone
INSERT INTO zbxhist.partition_state (partition, parent, settling, not_packable, not_packable_at)
SELECT partition, 'history', '{}', 'of its rows', now() FROM zbxhist.list_partitions('history') WHERE to_clock < 1600000000;
CALL zbxhist.run_maintenance('history');
SELECT count(*) FROM zbxhist.packed_day WHERE parent = 'history'::regclass;
CALL zbxhist.pack('history', '2020-01-05');
SELECT count(*) FROM zbxhist.packed_day WHERE parent = 'history'::regclass;
UPDATE zbxhist.partition_state SET not_packable_at = now() - interval '2 days' WHERE not_packable IS NOT NULL;
CALL zbxhist.run_maintenance('history');
SELECT count(*) FROM zbxhist.packed_day WHERE parent = 'history'::regclass;
-- while an undo is unfinished
UPDATE zbxhist.parent_config SET routing = false;
CALL zbxhist.unarchive('history', '2020-01-05');
CALL zbxhist.undo('history');
SELECT count(*) FROM history;
DROP TABLE history;
