-- sql/views/progress.sql

CREATE VIEW zbxhist.progress AS
SELECT s.parent,
       s.action,
       s.relation AS partition,
       s.action_pid AS pid,
       s.action_started AS started_at,
       s.action_rows AS rows,
       s.action_percent AS percent
  FROM zbxhist.parent_state s
  JOIN pg_catalog.pg_class k ON k.oid = s.parent
 WHERE s.action IS NOT NULL
   AND EXISTS (SELECT FROM pg_catalog.pg_stat_activity a
                WHERE a.pid = s.action_pid
                  AND a.datname = pg_catalog.current_database());

COMMENT ON VIEW zbxhist.progress IS
'What maintenance is doing now, for actions of many batches';
COMMENT ON COLUMN zbxhist.progress.parent IS 'The managed table';
COMMENT ON COLUMN zbxhist.progress.action IS 'move, expire or undo';
COMMENT ON COLUMN zbxhist.progress.partition IS 'The partition concerned';
COMMENT ON COLUMN zbxhist.progress.pid IS 'The server process';
COMMENT ON COLUMN zbxhist.progress.started_at IS 'When the action began';
COMMENT ON COLUMN zbxhist.progress.rows IS 'Rows done so far';
COMMENT ON COLUMN zbxhist.progress.percent IS 'How far it has come, judged by the item reached';

REVOKE ALL ON zbxhist.progress FROM PUBLIC;
GRANT SELECT ON zbxhist.progress TO PUBLIC;
