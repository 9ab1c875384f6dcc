-- sql/tables/managed_schema.sql
--
-- Where setup() was called: tables that a Zabbix upgrade creates there later
-- are taken up by maintenance with the same options.

CREATE TABLE zbxhist.managed_schema (
    schema_name       name NOT NULL PRIMARY KEY,
    history_retention interval,
    trends_retention  interval,
    premake           integer NOT NULL,
    pack_after        interval,
    move_existing     boolean NOT NULL,
    excluded          name[] NOT NULL DEFAULT '{}',
    history_interval  interval NOT NULL,
    ingest            text NOT NULL CHECK (ingest IN ('heap', 'runs'))
);

COMMENT ON TABLE zbxhist.managed_schema IS
'Schemas in which zbxhist.setup() was called, with its options for tables that appear later';
COMMENT ON COLUMN zbxhist.managed_schema.schema_name IS 'The schema';
COMMENT ON COLUMN zbxhist.managed_schema.history_retention IS 'Retention of new history tables; NULL follows Zabbix';
COMMENT ON COLUMN zbxhist.managed_schema.trends_retention IS 'Retention of new trends tables; NULL follows Zabbix';
COMMENT ON COLUMN zbxhist.managed_schema.premake IS 'Number of partitions kept ahead, or of days if they are shorter';
COMMENT ON COLUMN zbxhist.managed_schema.pack_after IS 'Age at which a partition is packed';
COMMENT ON COLUMN zbxhist.managed_schema.move_existing IS 'Whether existing rows are moved';
COMMENT ON COLUMN zbxhist.managed_schema.excluded IS 'Tables that zbxhist.undo() turned back into plain ones';
COMMENT ON COLUMN zbxhist.managed_schema.history_interval IS 'Length of the partitions of new history tables';
COMMENT ON COLUMN zbxhist.managed_schema.ingest IS 'How new history tables store new values: heap or runs';

SELECT pg_catalog.pg_extension_config_dump('zbxhist.managed_schema', '');

REVOKE ALL ON zbxhist.managed_schema FROM PUBLIC;
GRANT SELECT ON zbxhist.managed_schema TO PUBLIC;
GRANT SELECT, INSERT, UPDATE, DELETE ON zbxhist.managed_schema TO pg_database_owner;
