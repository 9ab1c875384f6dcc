-- sql/migrate/grants.sql
--
-- See sql/grants.sql.

SELECT zbxhist_internal.grant_routines('zbxhist_migrate');
