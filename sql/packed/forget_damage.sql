-- sql/packed/forget_damage.sql

CREATE FUNCTION zbxhist_internal.forget_damage(day oid)
RETURNS void
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'zbxhist_forget_damage';

COMMENT ON FUNCTION zbxhist_internal.forget_damage(oid) IS
'Forgets that a query has met damage in a packed day (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.forget_damage(oid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.forget_damage(oid) TO pg_database_owner;
