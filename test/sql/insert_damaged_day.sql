-- A packed day that is damaged, or that somebody has altered, fails no INSERT of late values.
-- Its readable keys are checked all the same.
\a \t
SET client_min_messages = warning;
SET timezone = 'UTC';
SET zbxhist.allow_packed_drop = on;
CREATE TABLE history (
    itemid bigint NOT NULL, clock integer DEFAULT 0 NOT NULL, value double precision DEFAULT 0 NOT NULL,
    ns integer DEFAULT 0 NOT NULL, PRIMARY KEY (itemid, clock, ns));
SELECT zbxhist.create_parent('history', retention => '100 years', premake => 0);
SELECT zbxhist.create_partition('history', d) FROM unnest('{1970-01-02,1970-01-03,1970-01-04}'::date[]) d;
INSERT INTO history SELECT i, 86400 * d, i, 0 FROM generate_series(1, 3) i, generate_series(1, 3) d;
CALL zbxhist.pack('history', '1970-01-02');
CALL zbxhist.pack('history', '1970-01-03');

-- the values of its last item
UPDATE zbxhist_packed.history_p19700102
   SET payload = set_byte(payload, length(payload) - 5, get_byte(payload, length(payload) - 5) # 255);
SET client_min_messages = log;
INSERT INTO history VALUES (3, 86401, 7, 0);
INSERT INTO history VALUES (3, 86400, 7, 0);
SET client_min_messages = warning;
SET zbxhist.enable_fast_insert = off;
INSERT INTO history VALUES (3, 86400, 7, 1);
INSERT INTO history VALUES (3, 86400, 7, 1);
INSERT INTO history VALUES (1, 86400, 7, 0);
-- with it, rows before and after that are duplicates: in this day, another, a partition
INSERT INTO history VALUES (1, 86400, 7, 0), (3, 86400, 7, 2);
INSERT INTO history VALUES (3, 86400, 7, 2), (2, 86400, 7, 0);
INSERT INTO history VALUES (3, 86400, 7, 2), (2, 172800, 7, 0);
INSERT INTO history VALUES (3, 86400, 7, 2), (2, 259200, 7, 0);
RESET zbxhist.enable_fast_insert;
INSERT INTO history VALUES (3, 86400, 7, 2), (2, 86400, 7, 0);
INSERT INTO history VALUES (3, 86400, 7, 2), (2, 172800, 7, 0);
INSERT INTO history VALUES (3, 86400, 7, 2), (2, 259200, 7, 0);
INSERT INTO history VALUES (3, 86400, 7, 2), (4, 86400, 7, 0), (4, 172800, 7, 0), (4, 259200, 7, 0);
SELECT zbxhist.add(NULL::history, '{3,4}', '{86400,86400}', '{3,3}', '{7,7}'::float8[]);
SELECT zbxhist.add(NULL::history, '{3,2}', '{86400,86400}', '{4,0}', '{7,7}'::float8[]);
INSERT INTO history VALUES (3, 86400, 7, 5) ON CONFLICT DO NOTHING;
SELECT * FROM ONLY history ORDER BY itemid, clock, ns;

-- in a subtransaction, and with changes of packed rows in the same transaction
BEGIN;
DELETE FROM history WHERE itemid = 1 AND clock = 86400;
SAVEPOINT a;
INSERT INTO history VALUES (3, 86400, 7, 6), (1, 86400, 8, 0);
ROLLBACK TO a;
INSERT INTO history VALUES (3, 86400, 7, 6);
INSERT INTO history VALUES (2, 86400, 8, 0);
ROLLBACK;
BEGIN;
DELETE FROM history WHERE itemid = 1 AND clock = 86400;
INSERT INTO history VALUES (3, 86400, 7, 6), (1, 86400, 8, 0);
SELECT * FROM history WHERE itemid = 1 AND clock = 86400;
COMMIT;

-- the list of its items, and all of it
UPDATE zbxhist_packed.history_p19700102 SET payload = set_byte(payload, 20, get_byte(payload, 20) # 1);
INSERT INTO history VALUES (2, 86400, 7, 8);
UPDATE zbxhist_packed.history_p19700102 SET payload = '';
INSERT INTO history VALUES (2, 86400, 7, 9);
SELECT count(*) FROM ONLY history;

-- its columns
ALTER TABLE zbxhist_packed.history_p19700103 RENAME COLUMN clock TO renamed;
INSERT INTO history VALUES (2, 172800, 7, 0);
ALTER TABLE zbxhist_packed.history_p19700103 RENAME COLUMN renamed TO clock;
INSERT INTO history VALUES (1, 172800, 7, 0);
SELECT * FROM ONLY history WHERE clock = 172800 ORDER BY itemid;

DROP TABLE history CASCADE;
