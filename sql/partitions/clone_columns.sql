-- sql/partitions/clone_columns.sql

CREATE FUNCTION zbxhist_internal.clone_columns(parent regclass, partition regclass)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    item record;
BEGIN
    FOR item IN
        SELECT a.attname, a.attstattarget,
               ARRAY(SELECT o FROM unnest(a.attoptions) o WHERE o LIKE 'n\_distinct%') AS options
          FROM pg_attribute a
         WHERE a.attrelid = parent AND a.attnum > 0 AND NOT a.attisdropped
         ORDER BY a.attnum
    LOOP
        IF item.attstattarget >= 0 THEN
            PERFORM zbxhist_internal.execute_as_owner(partition, format(
                'ALTER TABLE %s ALTER COLUMN %I SET STATISTICS %s',
                partition, item.attname, item.attstattarget));
        END IF;
        IF cardinality(item.options) > 0 THEN
            PERFORM zbxhist_internal.execute_as_owner(partition, format(
                'ALTER TABLE %s ALTER COLUMN %I SET (%s)',
                partition, item.attname, zbxhist_internal.format_options(item.options)));
        END IF;
    END LOOP;
    SELECT k.relreplident INTO item FROM pg_class k WHERE k.oid = parent;
    IF item.relreplident = 'f' THEN
        PERFORM zbxhist_internal.execute_as_owner(
            partition, format('ALTER TABLE %s REPLICA IDENTITY FULL', partition));
    ELSIF item.relreplident = 'n' THEN
        PERFORM zbxhist_internal.execute_as_owner(
            partition, format('ALTER TABLE %s REPLICA IDENTITY NOTHING', partition));
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.clone_columns(regclass, regclass) IS
'Gives a new partition the statistics targets, column options and replica identity of its parent (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.clone_columns(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.clone_columns(regclass, regclass) TO pg_database_owner;
