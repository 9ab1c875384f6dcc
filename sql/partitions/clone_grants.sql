-- sql/partitions/clone_grants.sql

CREATE FUNCTION zbxhist_internal.clone_grants(parent regclass, partition regclass)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    item record;
BEGIN
    -- what ALTER DEFAULT PRIVILEGES may have given, or somebody since
    FOR item IN
        SELECT zbxhist_internal.role_name(g.grantee) AS grantee
          FROM pg_class k, aclexplode(k.relacl) g
         WHERE k.oid = partition AND g.grantee <> k.relowner
         UNION
        SELECT zbxhist_internal.role_name(g.grantee)
          FROM pg_class k
          JOIN pg_attribute a ON a.attrelid = k.oid, aclexplode(a.attacl) g
         WHERE k.oid = partition AND g.grantee <> k.relowner
    LOOP
        PERFORM zbxhist_internal.execute_as_owner(
            partition, format('REVOKE ALL ON TABLE %s FROM %s CASCADE', partition, item.grantee));
    END LOOP;
    FOR item IN
        SELECT zbxhist_internal.role_name(g.grantee) AS grantee, g.privilege_type, g.is_grantable,
               '' AS columns
          FROM pg_class k, aclexplode(k.relacl) g
         WHERE k.oid = parent AND g.grantee <> k.relowner
           AND NOT k.relrowsecurity   -- else they would show what policies hide
        UNION ALL
        SELECT zbxhist_internal.role_name(g.grantee), g.privilege_type, g.is_grantable,
               format(' (%I)', a.attname)
          FROM pg_attribute a
          JOIN pg_class k ON k.oid = a.attrelid AND NOT k.relrowsecurity,
               aclexplode(a.attacl) g
         WHERE a.attrelid = parent AND a.attnum > 0 AND NOT a.attisdropped
           AND g.grantee <> k.relowner
    LOOP
        PERFORM zbxhist_internal.execute_as_owner(partition, format(
            'GRANT %s%s ON TABLE %s TO %s%s', item.privilege_type, item.columns,
            partition, item.grantee,
            CASE WHEN item.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END));
    END LOOP;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.clone_grants(regclass, regclass) IS
'Gives a partition the privileges granted on its parent and its columns, and no others (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.clone_grants(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.clone_grants(regclass, regclass) TO pg_database_owner;
