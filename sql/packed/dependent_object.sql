-- sql/packed/dependent_object.sql
CREATE FUNCTION zbxhist_internal.dependent_object(partition regclass)
RETURNS text
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (
        SELECT pg_describe_object(d.classid, d.objid, d.objsubid)
          FROM pg_depend d
         WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = dependent_object.partition
           AND d.deptype = 'n'
           AND d.classid NOT IN ('pg_attrdef'::regclass, 'pg_trigger'::regclass, 'pg_policy'::regclass)
           AND NOT EXISTS (SELECT FROM pg_constraint c
                            WHERE d.classid = 'pg_constraint'::regclass AND c.oid = d.objid
                              AND c.conrelid = dependent_object.partition)
           AND NOT EXISTS (SELECT FROM pg_rewrite r
                            WHERE d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
                              AND r.ev_class = dependent_object.partition)
           AND NOT EXISTS (SELECT FROM pg_index x
                            WHERE d.classid = 'pg_class'::regclass AND x.indexrelid = d.objid)
         LIMIT 1);
END
$$;

COMMENT ON FUNCTION zbxhist_internal.dependent_object(regclass) IS
'Something of somebody else that a DROP of a partition would not leave as it is, such as a view; null if there is nothing (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.dependent_object(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.dependent_object(regclass) TO PUBLIC;
