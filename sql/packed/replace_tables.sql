-- sql/packed/replace_tables.sql

CREATE FUNCTION zbxhist_internal.replace_tables(days regclass[], new_day regclass)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    entry     CONSTANT zbxhist.packed_day := (SELECT d FROM zbxhist.packed_day d WHERE d.day = new_day);
    old_name  name;
    old_index name;
    new_index regclass;
BEGIN
    SELECT k.relname, x.relname INTO old_name, old_index
      FROM pg_class k
      LEFT JOIN pg_index i ON i.indrelid = k.oid AND i.indisprimary
      LEFT JOIN pg_class x ON x.oid = i.indexrelid
     WHERE k.oid = days[1];
    SELECT i.indexrelid INTO new_index FROM pg_index i WHERE i.indrelid = new_day AND i.indisprimary;
    PERFORM zbxhist_internal.execute_as_owner(new_day, format('DROP TABLE %s', d)) FROM unnest(days) d;
    IF cardinality(days) > 1 OR old_index IS NULL THEN
        old_name := CASE WHEN cardinality(days) > 1
                         THEN zbxhist_internal.compacted_name(old_name, entry.from_clock, entry.to_clock)
                         ELSE old_name END;
        old_index := zbxhist_internal.free_name('zbxhist_packed'::regnamespace, old_name || '_pkey');
    END IF;
    PERFORM zbxhist_internal.execute_as_owner(
        new_day, format('ALTER TABLE %s RENAME TO %I', new_day, old_name));
    PERFORM zbxhist_internal.execute_as_owner(
        new_day, format('ALTER INDEX %s RENAME TO %I', new_index, old_index));
END
$$;

COMMENT ON FUNCTION zbxhist_internal.replace_tables(regclass[], regclass) IS
'Drops the tables of packed days and gives the name of the first one, or that of what they make together, to another one (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.replace_tables(regclass[], regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.replace_tables(regclass[], regclass) TO pg_database_owner;
