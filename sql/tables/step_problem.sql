-- sql/tables/step_problem.sql
--
-- What maintenance could not do, and since when.  Not dumped: it is about this
-- server, and the next runs write it anew.

CREATE TABLE zbxhist.step_problem (
    parent   regclass NOT NULL,
    step     text NOT NULL,
    relation text NOT NULL DEFAULT '',
    since    timestamptz NOT NULL,
    last_at  timestamptz NOT NULL,
    sqlstate text,
    message  text,
    holders  text[],
    PRIMARY KEY (parent, step, relation)
);

COMMENT ON TABLE zbxhist.step_problem IS
'Steps of maintenance that could not be done when they were last tried';
COMMENT ON COLUMN zbxhist.step_problem.parent IS 'The managed table';
COMMENT ON COLUMN zbxhist.step_problem.step IS 'The step: premake, move, drop, pack, ...';
COMMENT ON COLUMN zbxhist.step_problem.relation IS 'The partition or packed day that it is about, or empty';
COMMENT ON COLUMN zbxhist.step_problem.since IS 'When it was first tried in vain';
COMMENT ON COLUMN zbxhist.step_problem.last_at IS 'When it was last tried in vain';
COMMENT ON COLUMN zbxhist.step_problem.sqlstate IS 'SQLSTATE of the error; NULL if it waits for the end of older transactions';
COMMENT ON COLUMN zbxhist.step_problem.message IS 'The error';
COMMENT ON COLUMN zbxhist.step_problem.holders IS 'Transactions that had what it is about locked then, of a step that is not to wait for them again';

REVOKE ALL ON zbxhist.step_problem FROM PUBLIC;
GRANT SELECT ON zbxhist.step_problem TO PUBLIC;
GRANT SELECT, INSERT, UPDATE, DELETE ON zbxhist.step_problem TO pg_database_owner;
