-- sql/partitions/describe_grants.sql

CREATE FUNCTION zbxhist_internal.describe_grants(relation regclass)
RETURNS text[]
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(array_agg(d ORDER BY d), '{}')
      FROM (SELECT format('%s %s %s', g.grantee, g.privilege_type, g.is_grantable)
              FROM pg_class k, aclexplode(k.relacl) g
             WHERE k.oid = relation AND g.grantee <> k.relowner
            UNION
            SELECT format('%s %s %s (%s)', g.grantee, g.privilege_type, g.is_grantable, a.attname)
              FROM pg_class k, pg_attribute a, aclexplode(a.attacl) g
             WHERE k.oid = relation AND a.attrelid = k.oid AND a.attnum > 0
               AND NOT a.attisdropped AND g.grantee <> k.relowner) AS t (d)
$$;

COMMENT ON FUNCTION zbxhist_internal.describe_grants(regclass) IS
'The privileges granted on a table and its columns, to compare them (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.describe_grants(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.describe_grants(regclass) TO PUBLIC;
