-- sql/schema/zbxhist_internal.sql
--
-- What the extension calls itself and nobody else needs to know; its names may
-- change with any version.

CREATE SCHEMA zbxhist_internal;

COMMENT ON SCHEMA zbxhist_internal IS
'zbxhist: functions that the extension calls itself';
GRANT USAGE ON SCHEMA zbxhist_internal TO PUBLIC, pg_database_owner;
