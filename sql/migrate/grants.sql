-- sql/migrate/grants.sql

SELECT zbxhist_internal.grant_routines('zbxhist_migrate');
