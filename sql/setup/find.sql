-- sql/setup/find.sql

-- The history and trends tables of Zabbix, in one schema or in all.
-- Without a schema: in all schemas that have a table "history" with Zabbix's columns.  With a schema:
-- all tables of these names, so that one that cannot be managed gets its error message.
CREATE FUNCTION zbxhist_internal.find_tables(schema_name name)
RETURNS TABLE (parent regclass, table_schema name, table_name name, is_trends boolean)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 9 SET search_path = pg_catalog, pg_temp AS $$
    SELECT k.oid::regclass, n.nspname, k.relname, z.is_trends
      FROM pg_namespace n
      JOIN pg_class k ON k.relnamespace = n.oid
      JOIN zbxhist_internal.zabbix_tables() z ON z.table_name = k.relname
     WHERE n.nspname = schema_name AND k.relkind IN ('r', 'p', 'v', 'm', 'f')
        OR schema_name IS NULL
       AND k.relkind IN ('r', 'p')
       AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
       AND 4 = (SELECT count(*)
                  FROM pg_class h
                  JOIN pg_attribute a ON a.attrelid = h.oid
                 WHERE h.relnamespace = n.oid AND h.relname = 'history'
                   AND h.relkind IN ('r', 'p') AND NOT h.relispartition
                   AND (a.attname, a.atttypid) IN (
                           ('itemid', 'int8'::regtype), ('clock', 'int4'::regtype),
                           ('ns', 'int4'::regtype), ('value', 'float8'::regtype),
                           ('value', 'numeric'::regtype)))
     ORDER BY n.nspname, z.ordinal
$$;

-- Zabbix tables that were created in a schema after setup was called there; maintenance begins to
-- manage them.
-- Their owner must own managed tables there, or be the owner of the database: any role that may create
-- tables in the schema could create one of such a name, and a superuser's table is not to be managed by
-- the owner of the database.
CREATE FUNCTION zbxhist_internal.new_tables() RETURNS SETOF regclass
LANGUAGE sql STABLE PARALLEL SAFE ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
    SELECT f.parent
      FROM zbxhist.managed_schema m,
           zbxhist_internal.find_tables(m.schema_name) f
     WHERE f.table_name <> ALL (m.excluded)
       AND NOT EXISTS (SELECT FROM zbxhist.parent_config c WHERE c.parent = f.parent)
       AND zbxhist_internal.may_take_up(f.parent)
$$;

-- Why partitions of a table cannot be detached into a schema, with an SQLSTATE and the command that
-- makes it possible; NULLs if they can.
CREATE FUNCTION zbxhist_internal.schema_problem(
    parent regclass, schema_name name, OUT problem text, OUT sqlstate text, OUT remedy text)
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
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

-- A table of another extension that the caller may read; NULL if there is none.
CREATE FUNCTION zbxhist_internal.catalog_of(extension name, table_name name) RETURNS regclass
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT k.oid::regclass
      FROM pg_extension e
      JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
                      AND d.deptype = 'e' AND d.classid = 'pg_class'::regclass AND d.objsubid = 0
      JOIN pg_class k ON k.oid = d.objid
     WHERE e.extname = extension AND k.relname = table_name AND k.relkind = 'r'
       AND NOT k.relrowsecurity AND has_table_privilege(k.oid, 'SELECT')
       AND has_schema_privilege(k.relnamespace, 'USAGE')
     LIMIT 1
$$;

-- The hypertables of TimescaleDB in this database; none if the caller may not read its catalog.
-- The catalog must belong to a superuser, else it is not TimescaleDB's.  It also lists the tables of
-- compressed rows, which are left out here.
CREATE FUNCTION zbxhist_internal.hypertables() RETURNS SETOF regclass
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    catalog CONSTANT regclass := zbxhist_internal.catalog_of('timescaledb', 'hypertable');
BEGIN
    IF EXISTS (SELECT FROM pg_class k JOIN pg_roles r ON r.oid = k.relowner
                WHERE k.oid = catalog AND r.rolsuper) THEN
        RETURN QUERY EXECUTE format(
            'SELECT k.oid::regclass FROM %s h'
            '  JOIN pg_namespace n ON n.nspname = h.schema_name'
            '  JOIN pg_class k ON k.relnamespace = n.oid AND k.relname = h.table_name'
            ' WHERE n.nspname !~ ''^_timescaledb''', catalog);
    END IF;
END
$$;

-- Whether the owner of a table owns managed tables in the same schema, or the database.
CREATE FUNCTION zbxhist_internal.may_take_up(relation regclass) RETURNS boolean
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM pg_class k
         WHERE k.oid = relation
           AND (k.relowner = (SELECT d.datdba FROM pg_database d WHERE d.datname = current_database())
                OR EXISTS (SELECT FROM zbxhist.parent_config c
                             JOIN pg_class p ON p.oid = c.parent
                            WHERE p.relnamespace = k.relnamespace AND p.relowner = k.relowner)))
$$;

-- Returns the name of a role for GRANT and REVOKE.
CREATE FUNCTION zbxhist_internal.role_name(role oid) RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE role WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(role)) END
$$;

-- Raises an error unless the caller may act as the owner of the table.
CREATE FUNCTION zbxhist_internal.require_owner(parent regclass) RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    owner CONSTANT oid := (SELECT k.relowner FROM pg_class k WHERE k.oid = parent);
BEGIN
    PERFORM zbxhist_internal.refuse('42501', format('must be owner of table %s', parent),
        hint => format('Do this as role %I, as a member of it, or as a superuser.',
                       pg_get_userbyid(owner)))
      WHERE NOT pg_has_role(owner, 'USAGE');
END
$$;

-- Returns the policy of a managed table; raises an error if the table is not managed.
CREATE FUNCTION zbxhist_internal.require_managed(parent regclass) RETURNS zbxhist.parent_config
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    policy zbxhist.parent_config;
    owner  regclass;
BEGIN
    PERFORM zbxhist_internal.refuse('22004', 'table must not be null')
      WHERE parent IS NULL;
    SELECT * INTO policy FROM zbxhist.parent_config c WHERE c.parent = require_managed.parent;
    IF NOT FOUND THEN
        SELECT c.parent INTO owner
          FROM zbxhist.parent_config c
         WHERE c.parent IN (SELECT i.inhparent FROM pg_inherits i WHERE i.inhrelid = require_managed.parent
                             UNION ALL
                            SELECT d.parent FROM zbxhist.packed_day d WHERE d.day = require_managed.parent);
        PERFORM zbxhist_internal.refuse('42P17', format('table %s is not managed by zbxhist', parent),
            hint => CASE WHEN owner IS NOT NULL
                         THEN format('It is a part of %1$s: call the function with %1$L.', owner)
                         -- create_parent would not refuse it, see verify_table
                         WHEN (zbxhist_internal.why_unfit(parent)).problem IS NULL
                              AND EXISTS (SELECT FROM pg_class k
                                           WHERE k.oid = require_managed.parent AND k.relkind = 'r' AND k.relpersistence <> 't'
                                             AND k.reloftype = 0)
                              AND NOT EXISTS (SELECT FROM pg_inherits i WHERE require_managed.parent IN (i.inhrelid, i.inhparent))
                         THEN format('SELECT zbxhist.create_parent(%L);', parent)
                         ELSE 'SELECT parent FROM zbxhist.parents;' END);
    END IF;
    RETURN policy;
END
$$;

-- Returns the policy of a managed table; raises an error if it is not managed, or not the caller's.
CREATE FUNCTION zbxhist_internal.require_parent(parent regclass) RETURNS zbxhist.parent_config
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    policy CONSTANT zbxhist.parent_config := zbxhist_internal.require_managed(parent);
BEGIN
    PERFORM zbxhist_internal.require_owner(parent);
    RETURN policy;
END
$$;

-- Raises an error unless the table is managed, belongs to the caller, and no undo of it has begun.
CREATE FUNCTION zbxhist_internal.require_routed(parent regclass) RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM zbxhist_internal.refuse('55000', format('table %s is being turned back into a plain table', parent),
        detail => 'To stay with zbxhist, call zbxhist.create_parent instead.',
        hint => format('CALL zbxhist.undo(%L);', parent))
      WHERE NOT (zbxhist_internal.require_parent(parent)).routing;
END
$$;
