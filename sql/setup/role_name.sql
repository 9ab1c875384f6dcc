-- sql/setup/role_name.sql

CREATE FUNCTION zbxhist_internal.role_name(role oid)
RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE role WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(role)) END
$$;

COMMENT ON FUNCTION zbxhist_internal.role_name(oid) IS
'A role as GRANT and REVOKE name it (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.role_name(oid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.role_name(oid) TO PUBLIC;
