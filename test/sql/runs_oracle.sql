--
-- The same statements as in oracle.sql on tables that take their values as runs.
--
\set ECHO none
\set ingest runs
SET zbxhist.allow_packed_drop = on;
\ir oracle.sql
RESET zbxhist.allow_packed_drop;
