--
-- Rows in runs are changed as those of a plain table, and the hour of runs that
-- they are in can be packed then, and unpacked.
--
LOAD 'zbxhist';
SET client_min_messages = warning;
SET timezone = 'UTC';
SET zbxhist.allow_packed_drop = on;
CREATE SCHEMA runs_change;
SET search_path = runs_change;
CREATE TABLE plain (itemid bigint NOT NULL, clock integer NOT NULL, value numeric, ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE history (LIKE plain INCLUDING ALL);
SELECT zbxhist.create_parent('history');
SELECT zbxhist_internal.create_runs('history', 864000, 867600) IS NOT NULL AS made;
CREATE VIEW runs AS SELECT day FROM zbxhist.packed_day WHERE parent = 'history'::regclass AND runs;

CREATE FUNCTION fill(first integer, last integer, parts integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO plain SELECT i % 20, 864000 + i % 100, CASE WHEN i % 7 > 0 THEN i / CASE WHEN i % 50 = 3 THEN 8.0 ELSE 1 END END, i FROM generate_series(first, last) i;
    FOR part IN 0 .. parts - 1 LOOP
        INSERT INTO history SELECT * FROM plain WHERE ns BETWEEN first AND last AND ns % parts = part;
    END LOOP;
END $$;
-- rows in one and not in the other; runs, and rows outside of them
CREATE FUNCTION state(OUT wrong bigint, OUT nrows bigint, OUT nruns bigint, OUT outside bigint) LANGUAGE plpgsql AS $$
DECLARE
    runs regclass := (SELECT day FROM runs);
BEGIN
    SELECT count(*) INTO wrong FROM ((TABLE plain EXCEPT ALL TABLE history) UNION ALL (TABLE history EXCEPT ALL TABLE plain)) x;
    SELECT count(*) INTO nrows FROM history;
    SELECT count(*) INTO outside FROM ONLY history;
    IF runs IS NOT NULL THEN EXECUTE format('SELECT count(*) FROM %s', runs) INTO nruns; END IF;
END $$;
-- on both; says whether as many rows were changed
CREATE FUNCTION change(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    expected bigint;
    found    bigint;
BEGIN
    EXECUTE replace(statement, '$T', 'plain');
    GET DIAGNOSTICS expected = ROW_COUNT;
    EXECUTE replace(statement, '$T', 'history');
    GET DIAGNOSTICS found = ROW_COUNT;
    RETURN CASE WHEN found = expected THEN 'same ' || found ELSE format('%s instead of %s', found, expected) END;
END $$;
SELECT fill(1, 3000, 10);
SELECT * FROM state();

SELECT change('DELETE FROM $T WHERE itemid = 3');
SELECT * FROM state();
SELECT change('DELETE FROM $T WHERE itemid = 4 AND clock < 864050');
SELECT change('DELETE FROM $T WHERE itemid = 5 AND ns % 200 = 5');
SELECT change('UPDATE $T SET value = value + 1 WHERE itemid BETWEEN 6 AND 8');
SELECT change('UPDATE $T SET value = NULL WHERE itemid = 9 AND clock > 864020');
SELECT change('UPDATE $T SET value = 0.5 WHERE value IS NULL');
SELECT * FROM state();
-- to another place: in the hour, and out of it
SELECT change('UPDATE $T SET clock = clock + 1 WHERE itemid = 10 AND ns % 40 = 10');
SELECT change('UPDATE $T SET itemid = 100 WHERE itemid = 11');
SELECT change('UPDATE $T SET clock = clock + 86400 WHERE itemid = 12');
SELECT wrong, nrows FROM state();
-- as the housekeeper does
SELECT change('DELETE FROM $T WHERE itemid = 13 AND ctid = ANY (ARRAY(SELECT ctid FROM $T WHERE itemid = 13 AND clock < 864060 ORDER BY clock LIMIT 30))');
SELECT change('DELETE FROM $T WHERE itemid IN (14, 15, 100) AND clock >= 864013');
SELECT wrong, nrows FROM state();
-- with others that come in between, in one transaction
BEGIN;
SELECT fill(3001, 3400, 4);
SELECT change('DELETE FROM $T WHERE ns % 3 = 0');
SAVEPOINT a;
SELECT change('DELETE FROM $T');
SELECT wrong, nrows FROM state();
ROLLBACK TO a;
SELECT change('UPDATE $T SET value = -1 WHERE itemid = 2');
SELECT change('UPDATE $T SET value = value - 1 WHERE itemid = 2');
SELECT change('DELETE FROM $T WHERE value = -2');
COMMIT;
SELECT wrong, nrows FROM state();
-- what was deleted can come again
INSERT INTO plain VALUES (3, 864003, 1, 3);
INSERT INTO history VALUES (3, 864003, 1, 3);
INSERT INTO history VALUES (3, 864003, 1, 3);
SELECT change('DELETE FROM $T WHERE itemid = 3');
-- a value that does not fit a page
SELECT change('INSERT INTO $T VALUES (3, 864004, repeat(''123456789'', 5000)::numeric, 3)');
SELECT change('UPDATE $T SET value = value + 1 WHERE itemid = 3');
SELECT length(value::text) FROM history WHERE itemid = 3;
SELECT zbxhist.delete_values('history', 16, 864050, 0, 'greater_or_equal') =
       (SELECT count(*) FROM plain WHERE itemid = 16 AND clock >= 864050) AS deleted;
DELETE FROM plain WHERE itemid = 16 AND clock >= 864050;
SELECT wrong, nrows FROM state();
SELECT * FROM zbxhist.verify('history');

-- the hour closes
CALL zbxhist.pack('history', '1970-01-11');
SELECT wrong, nruns FROM state();
SELECT kind FROM zbxhist.partitions WHERE parent = 'history'::regclass AND from_clock = 864000;
SELECT * FROM zbxhist.verify('history');
RESET search_path;
DROP SCHEMA runs_change CASCADE;
