-- sql/migrate/release_default.sql
--
-- A default partition that holds rows is a plain table with all that a parent
-- needs: it becomes the parent, and its rows are that one's own.  It may have
-- other defaults, or its columns in another order.

CREATE FUNCTION zbxhist_internal.release_default(native regclass, partition regclass)
RETURNS regclass
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    item record;
BEGIN
    PERFORM zbxhist_internal.execute_as_owner(
        native, format('ALTER TABLE %s DETACH PARTITION %s', native, partition));
    IF NOT zbxhist_internal.has_own_rows(partition, NULL) THEN
        PERFORM zbxhist_internal.execute_as_owner(native, format('DROP TABLE %s', partition));
        RETURN NULL;
    END IF;
    FOR item IN
        SELECT n.attname, n.atttypid = p.atttypid AS is_same, pg_get_expr(d.adbin, d.adrelid) AS value
          FROM (SELECT a.*, row_number() OVER (ORDER BY a.attnum) AS place FROM pg_attribute a
                 WHERE a.attrelid = native AND a.attnum > 0 AND NOT a.attisdropped) n
          LEFT JOIN (SELECT a.*, row_number() OVER (ORDER BY a.attnum) AS place FROM pg_attribute a
                      WHERE a.attrelid = partition AND a.attnum > 0 AND NOT a.attisdropped) p
               ON (p.attname, p.place) = (n.attname, n.place)
          LEFT JOIN pg_attrdef d ON d.adrelid = native AND d.adnum = n.attnum AND n.attgenerated = ''
    LOOP
        IF item.is_same IS NOT TRUE THEN
            RAISE EXCEPTION 'default partition % has its columns in another order than table %', partition, native
                USING ERRCODE = 'object_not_in_prerequisite_state',
                      DETAIL = 'It would become the table itself, because it has rows.  Move them to partitions first.';
        END IF;
        PERFORM zbxhist_internal.execute_as_owner(partition, format(
            'ALTER TABLE %s ALTER COLUMN %I %s DEFAULT %s', partition, item.attname,
            CASE WHEN item.value IS NULL THEN 'DROP' ELSE 'SET' END, coalesce(item.value, '')));
    END LOOP;
    RETURN partition;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.release_default(regclass, regclass) IS
'Detaches a default partition; drops it if it is empty, else makes it ready to be a parent and returns it (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.release_default(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.release_default(regclass, regclass) TO pg_database_owner;
