-- sql/partitions/route.sql

CREATE FUNCTION zbxhist.route()
RETURNS trigger
LANGUAGE c VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'zbxhist_route';

COMMENT ON FUNCTION zbxhist.route() IS
'Trigger function of the managed tables: sends each new row to the partition of its clock';

REVOKE ALL ON FUNCTION zbxhist.route() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.route() TO pg_database_owner;
