-- sql/migrate/verify_native.sql

CREATE FUNCTION zbxhist_internal.verify_native(parent regclass)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    relation pg_class;
BEGIN
    IF parent IS NULL THEN
        RAISE EXCEPTION 'table must not be null'
            USING ERRCODE = 'null_value_not_allowed';
    END IF;
    SELECT * INTO relation FROM pg_class k WHERE k.oid = parent;
    IF relation.relkind IS DISTINCT FROM 'p' THEN
        RAISE EXCEPTION 'table % is not a natively partitioned one', parent
            USING ERRCODE = 'wrong_object_type',
                  HINT = CASE WHEN EXISTS (SELECT FROM zbxhist.parent_config c WHERE c.parent = verify_native.parent)
                              THEN 'zbxhist manages it already: SELECT * FROM zbxhist.status;'
                              ELSE format('SELECT zbxhist.create_parent(%L);', parent) END;
    END IF;
    IF relation.relispartition THEN
        RAISE EXCEPTION 'cannot manage %: it is a partition itself', parent
            USING ERRCODE = 'wrong_object_type',
                  HINT = 'Name the table at the top.';
    END IF;
    PERFORM zbxhist_internal.require_owner(parent);
    PERFORM zbxhist_internal.verify_columns(parent);
    PERFORM zbxhist_internal.verify_replaceable(parent);
    PERFORM zbxhist_internal.verify_native_partitions(parent);
    PERFORM zbxhist_internal.verify_partman();
END
$$;

COMMENT ON FUNCTION zbxhist_internal.verify_native(regclass) IS
'Raises an error unless the partitions of a natively partitioned table can be taken over (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.verify_native(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.verify_native(regclass) TO PUBLIC;
