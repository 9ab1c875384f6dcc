-- sql/migrate/begin.sql
--
-- The extension zbxhist_migrate is needed only to come from another kind of partitioning.  Its functions are
-- in the schemas of zbxhist, and it has no tables.  The progress of an import is in a table of zbxhist, so
-- that the import can go on after this extension was dropped and created again.  Its C functions are in the
-- library of zbxhist, because they write packed days.
\echo Use "CREATE EXTENSION zbxhist_migrate" to load this file. \quit

-- the rest of this script finds only PostgreSQL's own objects by unqualified names
SET LOCAL search_path = pg_catalog, pg_temp;
