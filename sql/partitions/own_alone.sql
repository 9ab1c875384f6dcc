-- sql/partitions/own_alone.sql

CREATE FUNCTION zbxhist_internal.own_alone(relation regclass, owner oid)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    source CONSTANT pg_class := (SELECT k FROM pg_class k WHERE k.oid = relation);
    item   record;
BEGIN
    -- what ALTER DEFAULT PRIVILEGES may have given
    FOR item IN
        SELECT DISTINCT zbxhist_internal.role_name(g.grantee) AS grantee
          FROM aclexplode(source.relacl) g
         WHERE g.grantee <> source.relowner
    LOOP
        PERFORM zbxhist_internal.execute_as_owner(
            relation, format('REVOKE ALL ON TABLE %s FROM %s', relation, item.grantee));
    END LOOP;
    PERFORM zbxhist_internal.give_to(relation, owner);
END
$$;

COMMENT ON FUNCTION zbxhist_internal.own_alone(regclass, oid) IS
'Gives a new relation to a role, with no privileges for others (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.own_alone(regclass, oid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.own_alone(regclass, oid) TO pg_database_owner;
