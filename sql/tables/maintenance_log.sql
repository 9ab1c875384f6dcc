-- sql/tables/maintenance_log.sql

CREATE TABLE zbxhist.maintenance_log (
    id         bigint NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    started_at timestamptz NOT NULL,
    parent     regclass,
    action     text NOT NULL,
    relation   text,
    rows       bigint,
    bytes      bigint,
    duration   interval NOT NULL,
    lock_wait  interval,
    sqlstate   text,
    message    text
);

CREATE INDEX ON zbxhist.maintenance_log (started_at);

COMMENT ON TABLE zbxhist.maintenance_log IS
'Every action of maintenance, kept for 30 days';
COMMENT ON COLUMN zbxhist.maintenance_log.id IS 'Number of the entry';
COMMENT ON COLUMN zbxhist.maintenance_log.started_at IS 'When the action began';
COMMENT ON COLUMN zbxhist.maintenance_log.parent IS 'The managed table';
COMMENT ON COLUMN zbxhist.maintenance_log.action IS 'What was done: take_up, owner, premake, split, replace, trigger, align, index, move, extend, drop, expire, truncate, pack, merge, compact, repack, unpack, salvage, lost, detach, absorb, inspect, undo, ...';
COMMENT ON COLUMN zbxhist.maintenance_log.relation IS 'The partition, if it was about one';
COMMENT ON COLUMN zbxhist.maintenance_log.rows IS 'Rows moved, deleted or dropped (an estimate for dropped ones)';
COMMENT ON COLUMN zbxhist.maintenance_log.bytes IS 'Disk space freed';
COMMENT ON COLUMN zbxhist.maintenance_log.duration IS 'How long the action took, lock waits included';
COMMENT ON COLUMN zbxhist.maintenance_log.lock_wait IS 'How long it waited for locks that stop writers or readers';
COMMENT ON COLUMN zbxhist.maintenance_log.sqlstate IS 'SQLSTATE if it failed';
COMMENT ON COLUMN zbxhist.maintenance_log.message IS 'Error message or remark';

REVOKE ALL ON zbxhist.maintenance_log FROM PUBLIC;
GRANT SELECT ON zbxhist.maintenance_log TO pg_monitor;
GRANT SELECT, INSERT, DELETE ON zbxhist.maintenance_log TO pg_database_owner;
