-- sql/packed/replace_table.sql

CREATE FUNCTION zbxhist_internal.replace_table(day regclass, new_day regclass)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    old_name  CONSTANT name := (SELECT k.relname FROM pg_class k WHERE k.oid = day);
    old_index CONSTANT name := (SELECT k.relname FROM pg_index i JOIN pg_class k ON k.oid = i.indexrelid
                                 WHERE i.indrelid = day AND i.indisprimary);
    new_index CONSTANT regclass := (SELECT i.indexrelid FROM pg_index i
                                     WHERE i.indrelid = new_day AND i.indisprimary);
BEGIN
    PERFORM zbxhist_internal.execute_as_owner(new_day, format('DROP TABLE %s', day));
    PERFORM zbxhist_internal.execute_as_owner(
        new_day, format('ALTER TABLE %s RENAME TO %I', new_day, old_name));
    PERFORM zbxhist_internal.execute_as_owner(
        new_day, format('ALTER INDEX %s RENAME TO %I', new_index, old_index));
END
$$;

COMMENT ON FUNCTION zbxhist_internal.replace_table(regclass, regclass) IS
'Drops the table of a packed day and gives its name to another one (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.replace_table(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.replace_table(regclass, regclass) TO pg_database_owner;
