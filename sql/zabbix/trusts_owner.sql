-- sql/zabbix/trusts_owner.sql
--
-- Whoever may create a table in a schema of Zabbix could have a table of
-- settings there, by which rows would be dropped.  As long as nothing is managed
-- in the schema, the owner of the table history is the one who counts.

CREATE FUNCTION zbxhist_internal.trusts_owner(table_schema name, owner oid)
RETURNS boolean
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- (a function in SQL would be planned anew in each call)
    IF owner = 'pg_database_owner'::regrole
       OR EXISTS (SELECT FROM pg_roles r WHERE r.oid = owner AND r.rolsuper)
       OR EXISTS (SELECT FROM pg_database d WHERE d.datname = current_database() AND d.datdba = owner) THEN
        RETURN true;
    END IF;
    RETURN EXISTS (
           SELECT FROM pg_class k
             JOIN pg_namespace n ON n.oid = k.relnamespace
             LEFT JOIN zbxhist.parent_config c ON c.parent = k.oid
            WHERE n.nspname = table_schema AND k.relowner = owner
              AND CASE WHEN EXISTS (SELECT FROM zbxhist.parent_config o
                                      JOIN pg_class p ON p.oid = o.parent
                                     WHERE p.relnamespace = n.oid)
                       THEN c.parent IS NOT NULL
                       ELSE k.relname = 'history' AND k.relkind IN ('r', 'p') END);
END
$$;

COMMENT ON FUNCTION zbxhist_internal.trusts_owner(name, oid) IS
'Whether tables of this owner beside the managed ones of a schema are taken for those of Zabbix: he owns managed ones, or the database, or is a superuser (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.trusts_owner(name, oid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.trusts_owner(name, oid) TO PUBLIC;
