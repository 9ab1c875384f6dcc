-- add() raises an error if a retry cannot help, and respects what partitions have of their
-- own, such as triggers and constraints.
\a \t
SET client_min_messages = warning;
SET timezone = 'UTC';
SET statement_timeout = '60s';
CREATE TABLE history (
    itemid bigint NOT NULL, clock integer DEFAULT 0 NOT NULL, value double precision DEFAULT 0 NOT NULL,
    ns integer DEFAULT 0 NOT NULL, PRIMARY KEY (itemid, clock, ns));
SELECT zbxhist.create_parent('history', retention => '100 years', premake => 0);
SELECT zbxhist.create_partition('history', '1970-01-02');
INSERT INTO history VALUES (1, 86400, 1, 0), (1, 0, 1, 0);

-- another unique index, of a partition and of the parent
CREATE UNIQUE INDEX one_value ON history_p19700102 (value);
DELETE FROM history WHERE clock = 0;
CREATE UNIQUE INDEX one_value_too ON history (value);
SELECT zbxhist.add(NULL::history, '{2}', '{86400}', '{0}', '{1}'::float8[], 'ignore');
SELECT zbxhist.add(NULL::history, '{2}', '{86400}', '{0}', '{1}'::float8[], 'update');
SELECT zbxhist.add(NULL::history, '{2}', '{86400}', '{0}', '{1}'::float8[]);
SELECT zbxhist.add(NULL::history, '{1,2}', '{86400,86400}', '{0,0}', '{1,2}'::float8[], 'ignore');
-- ... which an UPDATE violates
SELECT zbxhist.add(NULL::history, '{1}', '{86400}', '{0}', '{2}'::float8[], 'update');
DROP INDEX one_value;
INSERT INTO history VALUES (1, 0, 1, 0);
SELECT zbxhist.add(NULL::history, '{3}', '{0}', '{0}', '{1}'::float8[], 'ignore');
DROP INDEX one_value_too;

-- a trigger that gives new rows a key that is there
CREATE FUNCTION one_item() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN NEW.itemid := 1; RETURN NEW; END$$;
CREATE TRIGGER one_item BEFORE INSERT ON history FOR EACH ROW EXECUTE FUNCTION one_item();
SELECT zbxhist.add(NULL::history, '{4}', '{86400}', '{0}', '{1}'::float8[], 'ignore');
DROP TRIGGER one_item ON history;

-- rows that an UPDATE does not reach
CREATE FUNCTION no_update() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NULL; END$$;
CREATE TRIGGER no_update BEFORE UPDATE ON history_p19700102 FOR EACH ROW EXECUTE FUNCTION no_update();
SELECT zbxhist.add(NULL::history, '{1,5}', '{86400,86400}', '{0,0}', '{7,7}'::float8[], 'update');
SELECT zbxhist.add(NULL::history, '{1,5}', '{86400,86400}', '{0,0}', '{7,7}'::float8[], 'ignore');
DROP TRIGGER no_update ON history_p19700102;
CREATE RULE no_update AS ON UPDATE TO history DO INSTEAD NOTHING;
SELECT zbxhist.add(NULL::history, '{1}', '{0}', '{0}', '{7}'::float8[], 'update');
DROP RULE no_update ON history;
SELECT zbxhist.add(NULL::history, '{1}', '{0}', '{0}', '{7}'::float8[], 'update');

-- AFTER ROW triggers and deferrable constraints of a partition
CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE WARNING 'stored %', NEW; RETURN NULL; END$$;
CREATE TRIGGER tell AFTER INSERT ON history_p19700102 FOR EACH ROW EXECUTE FUNCTION tell();
ALTER TABLE history_p19700102 ADD CONSTRAINT later UNIQUE (value) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE history ADD CONSTRAINT later_too UNIQUE (value) DEFERRABLE INITIALLY DEFERRED;
SELECT zbxhist.add(NULL::history, '{6,6}', '{86400,0}', '{0,0}', '{8,9}'::float8[]);
SELECT zbxhist.add(NULL::history, '{6,7}', '{86400,86400}', '{0,0}', '{8,10}'::float8[], 'update');
BEGIN;
SELECT zbxhist.add(NULL::history, '{8}', '{86400}', '{0}', '{10}'::float8[]);
COMMIT;
SELECT tableoid::regclass AS stored_in, * FROM history ORDER BY itemid, clock;
DROP TABLE history CASCADE;
DROP FUNCTION one_item(), no_update(), tell();
