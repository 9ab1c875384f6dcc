-- sql/setup/require_owner.sql

CREATE FUNCTION zbxhist_internal.require_owner(parent regclass)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    owner CONSTANT oid := (SELECT k.relowner FROM pg_class k WHERE k.oid = parent);
BEGIN
    IF NOT pg_has_role(owner, 'USAGE') THEN
        RAISE EXCEPTION 'must be owner of table %', parent
            USING ERRCODE = 'insufficient_privilege',
                  HINT = format('Do this as role %I, as a member of it, or as a superuser.',
                                pg_get_userbyid(owner));
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.require_owner(regclass) IS
'Raises an error unless the caller may act as the owner of the table (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.require_owner(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.require_owner(regclass) TO PUBLIC;
