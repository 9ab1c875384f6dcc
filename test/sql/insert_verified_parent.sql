-- Once maintenance has verified that the parent has no rows of a partition, keys are not looked up
-- there any more, until a row is stored there that belongs to a partition.
\a \t
LOAD 'zbxhist';
CREATE TABLE history (
    itemid bigint NOT NULL, clock integer NOT NULL, value double precision NOT NULL,
    ns integer NOT NULL, PRIMARY KEY (itemid, clock, ns));
-- old rows that no partition takes
INSERT INTO history SELECT i, 1000, 0, 0 FROM generate_series(1, 1000) i;
SELECT zbxhist.create_parent('history');
SELECT zbxhist.create_partition('history', '1970-01-03');
SELECT zbxhist.create_partition('history', '1970-01-02');
-- what is verified, and whether there are marks
CREATE FUNCTION verified() RETURNS TABLE (partition regclass, verified boolean, marks boolean)
LANGUAGE sql AS $$
    SELECT s.partition, s.verified IS NOT NULL, EXISTS (SELECT FROM zbxhist.stray_mark m WHERE m.parent = s.parent)
      FROM zbxhist.partition_state s
     WHERE s.partition::text ~ '1970' ORDER BY 1
$$;
-- whether an insert looks into the parent's index
CREATE FUNCTION index_scans() RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT pg_stat_get_xact_numscans('history_pkey'::regclass)
$$;
CREATE PROCEDURE looks(statement text) LANGUAGE plpgsql AS $$
DECLARE
    before bigint := index_scans();
BEGIN
    EXECUTE statement;
    RAISE NOTICE 'looks into the parent: %', index_scans() > before;
END $$;

-- no maintenance yet
CALL looks('INSERT INTO history VALUES (1, 86400, 0, 1)');
-- running transactions of others would only delay what this shows
SELECT zbxhist_internal.step_verify('history');
SELECT * FROM verified();
CALL looks('INSERT INTO history VALUES (2, 86400, 0, 1), (2, 172800, 0, 1)');
INSERT INTO history VALUES (2, 86400, 0, 1);
-- rows without a partition are no strays
INSERT INTO history VALUES (3, 2000, 0, 1);
CALL looks('INSERT INTO history VALUES (3, 86400, 0, 1)');

-- strays of each kind
BEGIN;
INSERT INTO history VALUES (4, 86400, 0, 1) RETURNING itemid;
SELECT * FROM verified();
CALL looks('INSERT INTO history VALUES (5, 86400, 0, 1)');
INSERT INTO history VALUES (4, 86400, 0, 1);
ROLLBACK;
SELECT * FROM verified();
CALL looks('INSERT INTO history VALUES (5, 86400, 0, 1)');
INSERT INTO history VALUES (4, 86400, 0, 1) RETURNING itemid;
SELECT * FROM verified();
CALL looks('INSERT INTO history VALUES (6, 86400, 0, 1)');
INSERT INTO history VALUES (4, 86400, 0, 1);
-- its partition is not verified until it is moved, the newer one is
SELECT zbxhist_internal.step_verify('history');
SELECT * FROM verified();
CALL looks('INSERT INTO history VALUES (7, 86400, 0, 1)');
CALL looks('INSERT INTO history VALUES (7, 172800, 0, 1)');
SELECT * FROM zbxhist_internal.move_rows('history', 'history_p19700102', 86400, 172800, NULL, 100);
SELECT zbxhist_internal.step_verify('history');
SELECT * FROM verified();

-- the apply of logical replication
SET session_replication_role = replica;
INSERT INTO history VALUES (8, 172800, 0, 1);
RESET session_replication_role;
SELECT * FROM verified();
SELECT zbxhist_internal.step_verify('history');
SELECT * FROM verified();
DELETE FROM ONLY history WHERE itemid = 8;
SELECT zbxhist_internal.step_verify('history');
SELECT * FROM verified();

-- rows that undo brings back
SELECT moved FROM zbxhist_internal.move_rows('history_p19700103', 'history', 172800, 259200, NULL, 1);
SELECT * FROM verified();
SELECT moved FROM zbxhist_internal.move_rows('history', 'history_p19700103', 172800, 259200, NULL, 10);
SELECT zbxhist_internal.step_verify('history');

-- loading with triggers disabled leaves another version of the trigger
ALTER TABLE history DISABLE TRIGGER ALL;
INSERT INTO history VALUES (9, 172800, 0, 1);
ALTER TABLE history ENABLE TRIGGER USER;
ALTER TABLE history ENABLE REPLICA TRIGGER zzz_zbxhist_replica;
INSERT INTO history VALUES (9, 172800, 0, 1);
SELECT zbxhist_internal.step_verify('history');
SELECT * FROM verified();
SELECT moved FROM zbxhist_internal.move_rows('history', 'history_p19700103', 172800, 259200, NULL, 10);
SELECT zbxhist_internal.step_verify('history');
CALL looks('INSERT INTO history VALUES (10, 172800, 0, 1)');

-- who may insert need not be able to write our tables
CREATE ROLE regress_zbxhist_writer;
GRANT INSERT, SELECT ON history TO regress_zbxhist_writer;
SET ROLE regress_zbxhist_writer;
INSERT INTO history VALUES (11, 86400, 0, 1) RETURNING itemid;
DELETE FROM zbxhist.stray_mark;
SELECT zbxhist_internal.lock_strays('history');
RESET ROLE;
SELECT * FROM verified();
SELECT moved FROM zbxhist_internal.move_rows('history', 'history_p19700102', 86400, 172800, NULL, 10);

-- a large parent is looked through in a second transaction, which keeps nobody
-- waiting; a mark that is left before its end makes it void
INSERT INTO history SELECT i, 1000, 0, 2 FROM generate_series(1, 170000) i;
SELECT zbxhist_internal.own_pages('history') >= 1000 AS is_large, zbxhist_internal.step_begin('history');
SELECT zbxhist_internal.step_verify('history');
SELECT * FROM verified();
INSERT INTO history VALUES (12, 86400, 0, 1) RETURNING itemid;
SELECT zbxhist_internal.step_verify('history');
SELECT * FROM verified();
CALL looks('INSERT INTO history VALUES (13, 172800, 0, 1)');
INSERT INTO history VALUES (12, 86400, 0, 1);
SELECT zbxhist_internal.step_verify('history');
SELECT zbxhist_internal.step_verify('history');
SELECT * FROM verified();
CALL looks('INSERT INTO history VALUES (14, 172800, 0, 1)');
SELECT zbxhist_internal.step_verify('history');

SET client_min_messages = warning;
DROP TABLE history CASCADE;
RESET client_min_messages;
DROP ROLE regress_zbxhist_writer;
DROP PROCEDURE looks;
DROP FUNCTION verified, index_scans;
SELECT zbxhist_internal.forget_dropped();
SELECT count(*) FROM zbxhist.partition_state;
