-- sql/setup/may_take_up.sql

CREATE FUNCTION zbxhist_internal.may_take_up(relation regclass)
RETURNS boolean
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT EXISTS (
        SELECT FROM pg_class k
         WHERE k.oid = relation
           AND (k.relowner = (SELECT d.datdba FROM pg_database d WHERE d.datname = current_database())
                OR EXISTS (SELECT FROM zbxhist.parent_config c
                             JOIN pg_class p ON p.oid = c.parent
                            WHERE p.relnamespace = k.relnamespace AND p.relowner = k.relowner)))
$$;

COMMENT ON FUNCTION zbxhist_internal.may_take_up(regclass) IS
'Whether a table belongs to somebody who owns managed tables in the same schema, or to the owner of the database (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.may_take_up(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.may_take_up(regclass) TO PUBLIC;
