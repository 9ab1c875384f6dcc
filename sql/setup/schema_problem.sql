-- sql/setup/schema_problem.sql

CREATE FUNCTION zbxhist_internal.schema_problem(
    parent regclass,
    schema_name name,
    OUT problem text,
    OUT sqlstate text,
    OUT remedy text)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    owner CONSTANT oid := (SELECT k.relowner FROM pg_class k WHERE k.oid = parent);
BEGIN
    IF schema_name IS NULL THEN
        RETURN;
    ELSIF schema_name ~ '^(pg_|zbxhist(_|$)|information_schema$)' THEN
        problem := format('schema "%s" is not for tables of users', schema_name);
        sqlstate := '22023';
        remedy := format('SELECT zbxhist.alter_parent(%L, retention_schema => ''archive'');', parent);
    ELSIF NOT EXISTS (SELECT FROM pg_namespace n WHERE n.nspname = schema_name) THEN
        problem := format('schema "%s" does not exist', schema_name);
        sqlstate := '3F000';
        remedy := format('CREATE SCHEMA %I AUTHORIZATION %I;', schema_name, pg_get_userbyid(owner));
    ELSIF NOT has_schema_privilege(owner, schema_name, 'CREATE') OR NOT has_schema_privilege(owner, schema_name, 'USAGE') THEN
        problem := format('role %I, the owner of table %s, may not create tables in schema "%s"',
                          pg_get_userbyid(owner), parent, schema_name);
        sqlstate := '42501';
        remedy := format('GRANT CREATE, USAGE ON SCHEMA %I TO %I;', schema_name, pg_get_userbyid(owner));
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.schema_problem(regclass, name) IS
'Why partitions of a table cannot be detached into a schema, with its SQLSTATE and the command that mends it; NULL if they can (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.schema_problem(regclass, name) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.schema_problem(regclass, name) TO PUBLIC;
