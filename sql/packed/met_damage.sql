-- sql/packed/met_damage.sql
--
-- A query that fails, or that runs on a standby, can write to no table: see
-- src/packed/day/damage_note.c.

CREATE FUNCTION zbxhist_internal.met_damage()
RETURNS TABLE (day oid, met_at timestamptz)
LANGUAGE c VOLATILE STRICT PARALLEL SAFE ROWS 1
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'zbxhist_met_damage';

COMMENT ON FUNCTION zbxhist_internal.met_damage() IS
'Packed days in which a query has met damage since they were last looked through, and when (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.met_damage() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.met_damage() TO PUBLIC;
