-- Tools and commands that copy the table of a packed day, beside late values and changes: they
-- work or are refused.
\a \t
SET TimeZone = 'UTC';
\set SHOW_CONTEXT never
SET client_min_messages = warning;
CREATE TABLE history (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, value double precision DEFAULT '0.0000' NOT NULL, ns integer DEFAULT '0' NOT NULL, PRIMARY KEY (itemid,clock,ns));
CREATE TABLE plain (LIKE history);
SELECT zbxhist.create_parent('history', pack_after => '1 day');
SELECT 1 FROM zbxhist.create_partition('history', '2020-01-05');
INSERT INTO plain SELECT i, 1578182400 + s * 60, i * s, 0 FROM generate_series(1, 5) i, generate_series(0, 1439) s;
INSERT INTO history TABLE plain;
CALL zbxhist.pack('history', '2020-01-05');
CREATE VIEW difference AS
    (SELECT 'lost', * FROM plain EXCEPT ALL SELECT 'lost', * FROM history)
    UNION ALL
    (SELECT 'new', * FROM history EXCEPT ALL SELECT 'new', * FROM plain);
-- late values of one minute, and a change and a deletion of others
CREATE PROCEDURE change(minute integer) LANGUAGE plpgsql AS $$
BEGIN
    FOR target IN 1 .. 2 LOOP
        EXECUTE format('INSERT INTO %1$I SELECT i, 1578182430 + %2$s * 60, -i, 0 FROM generate_series(1, 5) i;'
            'UPDATE %1$I SET value = -value WHERE itemid = 2 AND clock = 1578182400 + %2$s * 60;'
            'DELETE FROM %1$I WHERE itemid = 3 AND clock = 1578182400 + %2$s * 60', CASE target WHEN 1 THEN 'history' ELSE 'plain' END, minute);
    END LOOP;
    -- late values of a day are looked for once an hour
    UPDATE zbxhist.packed_day SET merged_at = NULL WHERE parent = 'history'::regclass;
END
$$;
CALL change(1);
CALL zbxhist.run_maintenance('history');
TABLE difference;
SELECT day AS packed FROM zbxhist.packed_day WHERE parent = 'history'::regclass \gset

-- by triggers: whatever follows changes so would miss groups
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
CREATE TRIGGER repack_trigger AFTER INSERT OR DELETE OR UPDATE ON :packed FOR EACH ROW EXECUTE FUNCTION note();
CREATE TRIGGER truncated AFTER TRUNCATE ON :packed EXECUTE FUNCTION note();
CREATE CONSTRAINT TRIGGER later AFTER INSERT ON :packed DEFERRABLE FOR EACH ROW EXECUTE FUNCTION note();
SET session_replication_role = replica;
CREATE TRIGGER repack_trigger AFTER INSERT OR DELETE OR UPDATE ON :packed FOR EACH ROW EXECUTE FUNCTION note();
RESET session_replication_role;
SELECT count(*) FROM pg_trigger WHERE tgrelid = :'packed'::regclass;
-- by logical decoding: REPACK (CONCURRENTLY) and pg_squeeze want an identity
SELECT relreplident FROM pg_class WHERE oid = :'packed'::regclass;
ALTER TABLE :packed REPLICA IDENTITY FULL;
ALTER TABLE :packed REPLICA IDENTITY DEFAULT;
ALTER TABLE :packed SET UNLOGGED;
CALL zbxhist.repack('history', '2020-01-05');
SELECT day AS packed FROM zbxhist.packed_day WHERE parent = 'history'::regclass \gset
SELECT relreplident FROM pg_class WHERE oid = :'packed'::regclass;

-- what locks it meanwhile
VACUUM FULL :packed;
CALL change(2);
CALL zbxhist.run_maintenance('history');
TABLE difference;
SELECT format('CLUSTER %s USING %I', indrelid::regclass, relname) FROM pg_index x JOIN pg_class k ON k.oid = x.indexrelid
 WHERE indrelid = :'packed'::regclass \gexec
CALL change(3);
CALL zbxhist.run_maintenance('history');
TABLE difference;
SET allow_in_place_tablespaces = on;
CREATE TABLESPACE regress_zbxhist_copied LOCATION '';
ALTER TABLE :packed SET TABLESPACE regress_zbxhist_copied;
CALL change(4);
CALL zbxhist.run_maintenance('history');
TABLE difference;
SELECT * FROM zbxhist.verify('history');

-- out and in again, as pg_dump -t does
CREATE TABLE copied AS TABLE :packed;
TRUNCATE :packed;
INSERT INTO :packed TABLE copied;
TABLE difference;
SELECT * FROM zbxhist.verify('history');

-- a publication of all tables publishes no groups, and is in the way of none
SET client_min_messages = error;
ALTER TABLE plain REPLICA IDENTITY FULL;
CREATE PUBLICATION regress_zbxhist_all FOR ALL TABLES;
SET client_min_messages = warning;
CALL change(5);
CALL zbxhist.run_maintenance('history');
CALL zbxhist.repack('history', '2020-01-05');
CALL change(6);
CALL zbxhist.run_maintenance('history');
TABLE difference;
SELECT * FROM zbxhist.verify('history');
CALL zbxhist.unpack('history', '2020-01-05');
CALL zbxhist.pack('history', '2020-01-05');
TABLE difference;
DROP PUBLICATION regress_zbxhist_all;

-- the trigger of a tool on the table itself: partitions get none, and rows stay where they are
CREATE TRIGGER repack_trigger AFTER INSERT OR DELETE OR UPDATE ON history FOR EACH ROW EXECUTE FUNCTION note();
SELECT 1 FROM zbxhist.create_partition('history', '2020-01-07');
CALL change(7);
CALL zbxhist.run_maintenance('history');
SELECT tgrelid::regclass FROM pg_trigger WHERE tgname = 'repack_trigger';
SELECT clock, count(*) FROM ONLY history GROUP BY 1 ORDER BY 1;
SELECT step, sqlstate, message FROM zbxhist.step_problem;
DROP TRIGGER repack_trigger ON history;
CALL zbxhist.run_maintenance('history');
SELECT count(*) FROM ONLY history;
SELECT step, sqlstate, message FROM zbxhist.step_problem;
TABLE difference;

-- nor does one that was left behind wait to be told of
CREATE FUNCTION repack_trigger() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
CREATE TRIGGER repack_trigger AFTER INSERT ON history_packed FOR EACH ROW EXECUTE FUNCTION repack_trigger('INSERT INTO repack.log_1(pk, row) VALUES (1)');
SELECT severity, code, object, message, hint FROM zbxhist.check() WHERE code ~ 'trigger';
SELECT hint FROM zbxhist.check() WHERE code = 'tool_trigger' \gexec
SELECT severity, code, object, message, hint FROM zbxhist.check() WHERE code ~ 'trigger';
SET zbxhist.allow_packed_drop = on;
SELECT format('ALTER TABLE %s SET TABLESPACE pg_default', day) FROM zbxhist.packed_day WHERE parent = 'history'::regclass ORDER BY from_clock \gexec
DROP TABLE history CASCADE;
DROP TABLESPACE regress_zbxhist_copied;
DROP TABLE plain, copied;
DROP PROCEDURE change;
DROP FUNCTION note;
