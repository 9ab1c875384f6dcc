-- sql/migrate/new_plain_table.sql
--
-- Created by the owner: what its columns and indexes evaluate is his code.

CREATE FUNCTION zbxhist_internal.new_plain_table(native regclass)
RETURNS regclass
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET default_tablespace = ''
SET client_min_messages = warning
AS $$
DECLARE
    source   record;
    new_name CONSTANT name := format('zbxhist_adopted_%s', native::oid);
BEGIN
    SELECT n.nspname, k.relnamespace, k.relpersistence, t.spcname INTO source
      FROM pg_class k
      JOIN pg_namespace n ON n.oid = k.relnamespace
      LEFT JOIN pg_tablespace t ON t.oid = k.reltablespace
     WHERE k.oid = native;
    PERFORM zbxhist_internal.execute_as_owner(native, format(
        'CREATE %sTABLE %I.%I (LIKE %s INCLUDING ALL)%s',
        CASE WHEN source.relpersistence = 'u' THEN 'UNLOGGED ' ELSE '' END,
        source.nspname, new_name, native,
        coalesce(' TABLESPACE ' || quote_ident(source.spcname), '')));
    RETURN (SELECT k.oid::regclass FROM pg_class k
             WHERE k.relnamespace = source.relnamespace AND k.relname = new_name);
END
$$;

COMMENT ON FUNCTION zbxhist_internal.new_plain_table(regclass) IS
'Creates a plain table with the columns, defaults, constraints and indexes of a natively partitioned one (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.new_plain_table(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.new_plain_table(regclass) TO pg_database_owner;
