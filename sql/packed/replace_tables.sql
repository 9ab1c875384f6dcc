-- sql/packed/replace_tables.sql

CREATE FUNCTION zbxhist_internal.replace_tables(days regclass[], new_day regclass)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    old_name  CONSTANT name := (SELECT k.relname FROM pg_class k WHERE k.oid = days[1]);
    old_index CONSTANT name := (SELECT k.relname FROM pg_index i JOIN pg_class k ON k.oid = i.indexrelid
                                 WHERE i.indrelid = days[1] AND i.indisprimary);
    new_index CONSTANT regclass := (SELECT i.indexrelid FROM pg_index i
                                     WHERE i.indrelid = new_day AND i.indisprimary);
    covered   CONSTANT zbxhist.packed_day := (SELECT d FROM zbxhist.packed_day d WHERE d.day = new_day);
BEGIN
    PERFORM zbxhist_internal.execute_as_owner(new_day, format('DROP TABLE %s', d)) FROM unnest(days) d;
    PERFORM zbxhist_internal.execute_as_owner(
        new_day, format('ALTER TABLE %s RENAME TO %I', new_day,
                        zbxhist_internal.compacted_name(old_name, covered.from_clock, covered.to_clock)));
    PERFORM zbxhist_internal.execute_as_owner(
        new_day, format('ALTER INDEX %s RENAME TO %I', new_index,
                        zbxhist_internal.compacted_name(old_index, covered.from_clock, covered.to_clock)));
END
$$;

COMMENT ON FUNCTION zbxhist_internal.replace_tables(regclass[], regclass) IS
'Drops the tables of packed days and gives the name of the first one, or that of the day that they make, to another one (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.replace_tables(regclass[], regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.replace_tables(regclass[], regclass) TO pg_database_owner;
