-- sql/migrate/verify_replaceable.sql

CREATE FUNCTION zbxhist_internal.verify_replaceable(parent regclass)
RETURNS void
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    relation pg_class;
    obstacle record;
BEGIN
    SELECT * INTO STRICT relation FROM pg_class k WHERE k.oid = parent;
    SELECT * INTO obstacle FROM zbxhist_internal.native_obstacle(parent);
    IF obstacle.problem IS NOT NULL THEN
        RAISE EXCEPTION 'cannot take over the partitions of table %: %', parent, obstacle.problem
            USING ERRCODE = 'object_not_in_prerequisite_state', HINT = obstacle.remedy;
    END IF;
    IF NOT has_schema_privilege(relation.relowner, relation.relnamespace, 'CREATE') THEN
        RAISE EXCEPTION 'role % may not create tables in schema %', pg_get_userbyid(relation.relowner), relation.relnamespace::regnamespace
            USING ERRCODE = 'insufficient_privilege',
                  HINT = format('GRANT CREATE ON SCHEMA %s TO %I;', relation.relnamespace::regnamespace, pg_get_userbyid(relation.relowner));
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.verify_replaceable(regclass) IS
'Raises an error unless a plain table can take the place of a partitioned one (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.verify_replaceable(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.verify_replaceable(regclass) TO PUBLIC;
