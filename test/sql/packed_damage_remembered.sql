-- Damage that verify() or maintenance has found is reported until it is repaired.
\a \t
\set SHOW_CONTEXT never
SET client_min_messages = error;
SET TimeZone = 'UTC';
CREATE SCHEMA damaged;
SET search_path = damaged, public, zbxhist_partitions;
CREATE TABLE history (itemid bigint NOT NULL, clock integer NOT NULL DEFAULT 0, value double precision NOT NULL DEFAULT 0, ns integer NOT NULL DEFAULT 0, PRIMARY KEY (itemid, clock, ns));
SELECT zbxhist.create_parent('history', retention => '200 years', pack_after => '1 day', premake => 0);
SELECT zbxhist.create_partition('history', date '1970-01-02' + i) IS NOT NULL FROM generate_series(0, 3) i;
INSERT INTO history SELECT i % 5, 86400 + i * 600, sin(i), i FROM generate_series(0, 575) i;
CALL zbxhist.run_maintenance('history');
SELECT count(*) FROM zbxhist.packed_day WHERE parent = 'history'::regclass;
SELECT day AS day FROM zbxhist.packed_day WHERE parent = 'history'::regclass AND from_clock = 86400 \gset
CREATE VIEW told AS SELECT severity, object, regexp_replace(message, '\d{4}-\d\d-\d\d \d\d:\d\d:\d\d', 'THEN') AS message, hint FROM zbxhist.check() WHERE code = 'damaged_day';
CREATE VIEW known AS SELECT v.day, v.problem IS NOT NULL AS is_damaged, v.found_at IS NOT NULL AS found FROM zbxhist.verified_day v WHERE v.parent = 'history'::regclass ORDER BY 1::text;
CREATE PROCEDURE flip() LANGUAGE plpgsql AS $$ BEGIN
    EXECUTE format('UPDATE %s SET payload = set_byte(payload, length(payload) - 5, get_byte(payload, length(payload) - 5) # 255)',
                   (SELECT day FROM zbxhist.packed_day WHERE parent = 'damaged.history'::regclass AND from_clock = 86400));
END $$;

-- maintenance looks through the days, and remembers
CALL flip();
TABLE told;
UPDATE zbxhist.packed_day SET packed_at = now() - interval '40 days' WHERE day = :'day'::regclass;
CALL zbxhist.run_maintenance('history');
SELECT day = :'day'::regclass AS is_it, is_damaged, found FROM known;
SELECT severity, message, hint FROM told;
SELECT zbxhist.metrics() -> 'damaged_days' AS days;
SELECT action, relation = :'day' AS is_it, sqlstate FROM zbxhist.maintenance_log WHERE action = 'inspect';
\set VERBOSITY sqlstate
SELECT sum(value) FROM history WHERE value > -2;
\set VERBOSITY default
-- a reader's verify() changes nothing of that; its owner's, of the right bytes, does
BEGIN READ ONLY;
SELECT count(*) > 0 AS damaged FROM zbxhist.verify('history');
COMMIT;
CALL flip();
SELECT count(*) FROM told;
SELECT * FROM zbxhist.verify('history');
TABLE told;
SELECT is_damaged, found, count(*) FROM known GROUP BY 1, 2;
-- verify() remembers
CALL flip();
SELECT count(*) > 0 AS damaged FROM zbxhist.verify('history');
SELECT severity, message, hint FROM told;
SELECT zbxhist.metrics() -> 'damaged_days' AS days;
-- what is left of it is a partition
CALL zbxhist.salvage('zbxhist_packed.history_p19700102');
TABLE told;
SELECT zbxhist.metrics() -> 'damaged_days' AS days;

-- a share of a day: of three days that are alike, one at least, those that were not looked at for longest
DELETE FROM zbxhist.verified_day;
UPDATE zbxhist.packed_day SET packed_at = now() - interval '40 days' - from_clock * interval '1 second', repacked_at = NULL WHERE parent = 'history'::regclass;
SELECT * FROM zbxhist_internal.days_to_verify('history');
CALL zbxhist.run_maintenance('history');
TABLE known;
SELECT count(*) FROM zbxhist_internal.days_to_verify('history');
SET zbxhist.allow_packed_drop = on;
DROP SCHEMA damaged CASCADE;
CALL zbxhist.run_maintenance();
SELECT count(*) FROM zbxhist.verified_day;
