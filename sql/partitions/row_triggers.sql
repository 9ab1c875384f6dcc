-- sql/partitions/row_triggers.sql
--
-- The row triggers that PostgreSQL fires on the table a row is stored in.
-- BEFORE INSERT ones stay behind: they fire on the parent, before the routing.

CREATE FUNCTION zbxhist_internal.row_triggers(parent regclass)
RETURNS SETOF pg_trigger
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT t
      FROM pg_trigger t
     WHERE t.tgrelid = parent AND NOT t.tgisinternal
       AND t.tgtype & 1 <> 0                            -- FOR EACH ROW
       AND (t.tgtype & 2 = 0 OR t.tgtype & 24 <> 0)     -- not only BEFORE INSERT
       AND t.tgnewtable IS NULL AND t.tgoldtable IS NULL
       AND t.tgfoid <> 'zbxhist.route()'::regprocedure
$$;

COMMENT ON FUNCTION zbxhist_internal.row_triggers(regclass) IS
'The triggers of a managed table that its partitions are to have, too (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.row_triggers(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.row_triggers(regclass) TO PUBLIC;
