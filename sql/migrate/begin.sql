-- sql/migrate/begin.sql
--
-- What is needed to come from other ways of partitioning, and not afterwards: the
-- extension zbxhist_migrate, whose functions are in the schemas of zbxhist, and which leaves
-- nothing of its own in a table.  How far an import has come is in a table of zbxhist, so
-- that it goes on when the extension is dropped and created again.  Its C functions are
-- in the library of zbxhist, for they write packed days.
\echo Use "CREATE EXTENSION zbxhist_migrate" to load this file. \quit

-- nothing but what comes with PostgreSQL is found by the rest of this script
SET LOCAL search_path = pg_catalog, pg_temp;
