-- sql/setup/require_parent.sql

CREATE FUNCTION zbxhist_internal.require_parent(parent regclass)
RETURNS zbxhist.parent_config
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    policy zbxhist.parent_config;
    owner  regclass;
BEGIN
    IF parent IS NULL THEN
        RAISE EXCEPTION 'table must not be null'
            USING ERRCODE = 'null_value_not_allowed';
    END IF;
    SELECT * INTO policy FROM zbxhist.parent_config c WHERE c.parent = require_parent.parent;
    IF NOT FOUND THEN
        SELECT c.parent INTO owner
          FROM zbxhist.parent_config c
         WHERE c.parent IN (SELECT i.inhparent FROM pg_inherits i WHERE i.inhrelid = require_parent.parent
                             UNION ALL
                            SELECT d.parent FROM zbxhist.packed_day d WHERE d.day = require_parent.parent);
        RAISE EXCEPTION 'table % is not managed by zbxhist', parent
            USING ERRCODE = 'invalid_object_definition',
                  HINT = CASE WHEN owner IS NOT NULL
                              THEN format('It is a part of %1$s: call the function with %1$L.', owner)
                              WHEN (zbxhist_internal.column_problem(parent)).problem IS NULL
                                   AND EXISTS (SELECT FROM pg_class k WHERE k.oid = require_parent.parent AND k.relkind = 'r')
                              THEN format('SELECT zbxhist.create_parent(%L);', parent)
                              ELSE 'SELECT parent FROM zbxhist.parents;' END;
    END IF;
    PERFORM zbxhist_internal.require_owner(parent);
    RETURN policy;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.require_parent(regclass) IS
'The policy of a managed table that the caller owns; raises an error otherwise (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.require_parent(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.require_parent(regclass) TO PUBLIC;
