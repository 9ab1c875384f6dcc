-- The trigger that ends a statement's batch, where no hook does, is disabled: rows stay in the
-- parent and are visible at once, and COMMIT has nothing left to store.
\a \t
SET client_min_messages = warning;
CREATE TABLE history (
    itemid bigint NOT NULL, clock integer DEFAULT 0 NOT NULL, value double precision DEFAULT 0 NOT NULL,
    ns integer DEFAULT 0 NOT NULL, PRIMARY KEY (itemid, clock, ns));
SELECT zbxhist.create_parent('history', retention => '100 years', premake => 0);
SELECT zbxhist.create_partition('history', '1970-01-02');
CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE WARNING 'stored %', NEW; RETURN NULL; END$$;
CREATE TRIGGER tell AFTER INSERT ON history_p19700102 FOR EACH ROW EXECUTE FUNCTION tell();
ALTER TABLE history DISABLE TRIGGER "00_zbxhist_flush";

-- a statement that began before the library was loaded
\c -
BEGIN;
INSERT INTO history VALUES (1, 86400, 1, 0);
SELECT tableoid::regclass AS stored_in, * FROM history ORDER BY itemid;
COMMIT;
-- one that the hooks know, and COPY
INSERT INTO history VALUES (2, 86400, 1, 0);
COPY history FROM stdin;
3	86400	1	0
\.
SELECT tableoid::regclass AS stored_in, * FROM history ORDER BY itemid;
INSERT INTO history VALUES (1, 86400, 1, 0);

ALTER TABLE history ENABLE TRIGGER "00_zbxhist_flush";
\c -
BEGIN;
INSERT INTO history VALUES (4, 86400, 1, 0);
SELECT tableoid::regclass AS stored_in, * FROM history WHERE itemid = 4;
COMMIT;
SET client_min_messages = warning;
DROP TABLE history CASCADE;
DROP FUNCTION tell();
