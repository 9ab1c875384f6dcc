-- sql/migrate/take_place.sql
--
-- Names of indexes, too: those of Zabbix are known to its upgrades.

CREATE FUNCTION zbxhist_internal.take_place(native regclass, new_table regclass, former_name name DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    old_name CONSTANT name := (SELECT k.relname FROM pg_class k WHERE k.oid = native);
    comment  CONSTANT text := obj_description(native, 'pg_class');
    indexes  CONSTANT name[] := ARRAY(SELECT k.relname FROM pg_index x JOIN pg_class k ON k.oid = x.indexrelid
                                       WHERE x.indrelid = native ORDER BY x.indexrelid);
    formers  CONSTANT text[] := ARRAY(SELECT zbxhist_internal.describe_index(x.indexrelid) FROM pg_index x
                                       WHERE x.indrelid = native ORDER BY x.indexrelid);
    copy     regclass;
BEGIN
    IF former_name IS NULL THEN
        PERFORM zbxhist_internal.execute_as_owner(native, format('DROP TABLE %s', native));
    ELSE
        PERFORM zbxhist_internal.execute_as_owner(native, format(
                    'ALTER INDEX %s RENAME TO %I', k.oid::regclass,
                    zbxhist_internal.free_name(k.relnamespace, k.relname, '_old')))
           FROM pg_index x JOIN pg_class k ON k.oid = x.indexrelid WHERE x.indrelid = native;
        PERFORM zbxhist_internal.execute_as_owner(native, format('ALTER TABLE %s RENAME TO %I', native, former_name));
    END IF;
    PERFORM zbxhist_internal.execute_as_owner(
        new_table, format('ALTER TABLE %s RENAME TO %I', new_table, old_name));
    IF comment IS NOT NULL THEN
        PERFORM zbxhist_internal.execute_as_owner(
            new_table, format('COMMENT ON TABLE %s IS %L', new_table, comment));
    END IF;
    FOR i IN 1 .. cardinality(indexes) LOOP
        SELECT x.indexrelid::regclass INTO copy
          FROM pg_index x JOIN pg_class k ON k.oid = x.indexrelid
         WHERE x.indrelid = new_table AND k.relname <> ALL (indexes)
           AND zbxhist_internal.describe_index(x.indexrelid) = formers[i]
         LIMIT 1;
        IF FOUND THEN
            PERFORM zbxhist_internal.execute_as_owner(
                new_table, format('ALTER INDEX %s RENAME TO %I', copy, indexes[i]));
        END IF;
    END LOOP;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.take_place(regclass, regclass, name) IS
'Drops a partitioned table that has no partitions any more, or renames it, and gives its names to a plain one (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.take_place(regclass, regclass, name) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.take_place(regclass, regclass, name) TO pg_database_owner;
