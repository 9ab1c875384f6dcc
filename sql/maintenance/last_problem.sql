-- sql/maintenance/last_problem.sql

CREATE FUNCTION zbxhist_internal.last_problem(parent regclass, partition regclass)
RETURNS text
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT has_table_privilege('zbxhist.maintenance_log', 'SELECT') THEN
        RETURN NULL;
    END IF;
    RETURN (SELECT l.message FROM zbxhist.maintenance_log l
             WHERE l.parent = last_problem.parent AND l.action = 'pack'
               AND l.relation = last_problem.partition::text
             ORDER BY l.id DESC LIMIT 1);
END
$$;

COMMENT ON FUNCTION zbxhist_internal.last_problem(regclass, regclass) IS
'The last message of the log about the packing of a partition, for those who may read the log (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.last_problem(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.last_problem(regclass, regclass) TO PUBLIC;
