--
-- The same statements as in oracle.sql on tables that take their values as runs.
--
\set ECHO none
\set ingest runs
SET zbxhist.allow_packed_drop = on;
\getenv source PG_ABS_SRCDIR
\set oracle :source '/sql/oracle.sql'
\i :oracle
RESET zbxhist.allow_packed_drop;
