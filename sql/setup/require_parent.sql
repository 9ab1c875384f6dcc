-- sql/setup/require_parent.sql

CREATE FUNCTION zbxhist_internal.require_parent(parent regclass)
RETURNS zbxhist.parent_config
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    policy zbxhist.parent_config;
BEGIN
    IF parent IS NULL THEN
        RAISE EXCEPTION 'table must not be null'
            USING ERRCODE = 'null_value_not_allowed';
    END IF;
    SELECT * INTO policy FROM zbxhist.parent_config c WHERE c.parent = require_parent.parent;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'table % is not managed by zbxhist', parent
            USING ERRCODE = 'invalid_object_definition',
                  HINT = format('SELECT zbxhist.create_parent(%L);', parent);
    END IF;
    PERFORM zbxhist_internal.require_owner(parent);
    RETURN policy;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.require_parent(regclass) IS
'The policy of a managed table that the caller owns; raises an error otherwise (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.require_parent(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.require_parent(regclass) TO PUBLIC;
