-- sql/setup/missing_route_triggers.sql

CREATE FUNCTION zbxhist_internal.missing_route_triggers(parent regclass)
RETURNS SETOF name
LANGUAGE sql STABLE STRICT PARALLEL SAFE ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT w
      FROM unnest('{zzz_zbxhist_route,zzz_zbxhist_replica,00_zbxhist_flush}'::name[]) w
     WHERE NOT EXISTS (SELECT FROM pg_trigger t
                        WHERE t.tgrelid = parent AND t.tgname = w
                          AND t.tgfoid = 'zbxhist.route()'::regprocedure)
$$;

COMMENT ON FUNCTION zbxhist_internal.missing_route_triggers(regclass) IS
'The routing triggers that a managed table lacks (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.missing_route_triggers(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.missing_route_triggers(regclass) TO PUBLIC;
