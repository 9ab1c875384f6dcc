-- sql/migrate/grants.sql
--
-- As sql/grants.sql.

SELECT zbxhist_internal.grant_routines('zbxhist_migrate');
