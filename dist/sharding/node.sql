-- dist/sharding/node.sql: creates what a node needs beside Zabbix's history tables and
-- zbxhist; see docs/sharding.md.  Run it as the owner of the database:
--
--     psql -d zabbix -f dist/sharding/node.sql
\set ON_ERROR_STOP on
BEGIN;

CREATE SCHEMA zbxhist_node;
COMMENT ON SCHEMA zbxhist_node IS 'What the coordinator of several nodes asks this one';

-- One row, which takes as long to read as the node is away.
CREATE VIEW zbxhist_node.alive AS SELECT true AS alive;
COMMENT ON VIEW zbxhist_node.alive IS 'Whether this node answers';

CREATE VIEW zbxhist_node.findings AS
SELECT c.severity, c.code, c.object, c.message, c.hint FROM zbxhist.check() c;
COMMENT ON VIEW zbxhist_node.findings IS 'zbxhist.check() of this node';

COMMIT;
