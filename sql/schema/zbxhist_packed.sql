-- sql/schema/zbxhist_packed.sql
--
-- The tables of packed days are in here; they are no members of the
-- extension, so pg_dump takes them along.

CREATE SCHEMA zbxhist_packed AUTHORIZATION pg_database_owner;

COMMENT ON SCHEMA zbxhist_packed IS
'zbxhist: the tables of packed days';
GRANT USAGE ON SCHEMA zbxhist_packed TO PUBLIC;
