-- sql/schema.sql

\echo Use "CREATE EXTENSION zbxhist" to load this file. \quit

-- the rest of this script finds only PostgreSQL's own objects by unqualified names
SET LOCAL search_path = pg_catalog, pg_temp;

-- CREATE EXTENSION created the schema, or found it.  An existing schema may hold functions of
-- somebody else that would be called instead of ours, or a table in the place of one of ours.  So it
-- must be empty, as DROP EXTENSION and a dump leave it.
DO $$
DECLARE
    home  record;
    other text;
BEGIN
    SELECT n.oid, n.nspowner, n.nspacl,
           r.rolsuper OR n.nspowner IN (e.extowner, d.datdba, 'pg_database_owner'::regrole) AS is_trusted
      INTO STRICT home
      FROM pg_namespace n
      JOIN pg_roles r ON r.oid = n.nspowner
      JOIN pg_extension e ON e.extname = 'zbxhist'
      JOIN pg_database d ON d.datname = current_database()
     WHERE n.nspname = 'zbxhist';
    IF NOT home.is_trusted THEN
        RAISE EXCEPTION 'schema "zbxhist" exists and belongs to role %', quote_ident(pg_get_userbyid(home.nspowner))
            USING ERRCODE = 'duplicate_schema',
                  HINT = 'ALTER SCHEMA zbxhist RENAME TO zbxhist_old;';
    END IF;
    SELECT pg_describe_object(p.classid, p.objid, 0) INTO other
      FROM pg_depend p
     WHERE p.refclassid = 'pg_namespace'::regclass AND p.refobjid = home.oid
       AND NOT (p.classid = 'pg_extension'::regclass
                AND p.objid = (SELECT e.oid FROM pg_extension e WHERE e.extname = 'zbxhist'))
     LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'schema "zbxhist" exists and is not empty'
            USING ERRCODE = 'duplicate_schema', DETAIL = format('It holds %s.', other),
                  HINT = 'ALTER SCHEMA zbxhist RENAME TO zbxhist_old;';
    END IF;
    SELECT n.nspname INTO other FROM pg_namespace n
     WHERE n.nspname IN ('zbxhist_internal', 'zbxhist_packed') LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'schema "%" exists', other
            USING ERRCODE = 'duplicate_schema',
                  HINT = format('ALTER SCHEMA %I RENAME TO %I;', other, other || '_old');
    END IF;
    -- as that of zbxhist_packed, its owner changes with the owner of the database
    FOR other IN SELECT DISTINCT a.grantee FROM aclexplode(home.nspacl) a
                  WHERE a.grantee <> home.nspowner LOOP
        EXECUTE format('REVOKE ALL ON SCHEMA zbxhist FROM %s',
                       CASE other::oid WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(other::oid)) END);
    END LOOP;
    ALTER SCHEMA zbxhist OWNER TO pg_database_owner;
END
$$;

COMMENT ON SCHEMA zbxhist IS 'zbxhist: partitioning and fast ingest for the Zabbix history and trends tables';
GRANT USAGE ON SCHEMA zbxhist TO PUBLIC;

-- Functions that only the extension calls.  Their names may change with any version.
CREATE SCHEMA zbxhist_internal;

COMMENT ON SCHEMA zbxhist_internal IS 'zbxhist: functions that the extension calls itself';
GRANT USAGE ON SCHEMA zbxhist_internal TO PUBLIC, pg_database_owner;

-- Holds the tables of packed days.  These are not members of the extension, so pg_dump dumps them.
CREATE SCHEMA zbxhist_packed AUTHORIZATION pg_database_owner;

COMMENT ON SCHEMA zbxhist_packed IS 'zbxhist: the tables of packed days';
GRANT USAGE ON SCHEMA zbxhist_packed TO PUBLIC;
