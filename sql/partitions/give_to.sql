-- sql/partitions/give_to.sql

CREATE FUNCTION zbxhist_internal.give_to(relation regclass, owner oid)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    source CONSTANT pg_class := (SELECT k FROM pg_class k WHERE k.oid = relation);
BEGIN
    IF source.relowner = owner THEN
        RETURN;
    END IF;
    -- nobody can be given a table in a schema where he may not create one
    IF source.relnamespace = 'zbxhist_packed'::regnamespace
       AND NOT has_schema_privilege(owner, source.relnamespace, 'CREATE') THEN
        EXECUTE format('GRANT CREATE ON SCHEMA zbxhist_packed TO %I', pg_get_userbyid(owner));
    END IF;
    PERFORM zbxhist_internal.change_owner(relation, owner);
END
$$;

COMMENT ON FUNCTION zbxhist_internal.give_to(regclass, oid) IS
'Makes a role the owner of a partition, a packed day or a foreign table of the caller''s (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.give_to(regclass, oid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.give_to(regclass, oid) TO pg_database_owner;
