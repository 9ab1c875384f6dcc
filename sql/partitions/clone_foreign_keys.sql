-- sql/partitions/clone_foreign_keys.sql

CREATE FUNCTION zbxhist_internal.clone_foreign_keys(parent regclass, partition regclass)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    definition text;
    validity   CONSTANT text := CASE WHEN zbxhist_internal.own_pages(partition) = 0 THEN '' ELSE ' NOT VALID' END;
BEGIN
    FOR definition IN SELECT m FROM zbxhist_internal.missing_foreign_keys(parent, partition) m LOOP
        PERFORM zbxhist_internal.execute_as_owner(
            partition, format('ALTER TABLE %s ADD %s%s', partition, replace(definition, ' NOT VALID', ''), validity));
    END LOOP;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.clone_foreign_keys(regclass, regclass) IS
'Gives a partition the foreign keys of its parent that it has not, for new rows if it has some already (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.clone_foreign_keys(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.clone_foreign_keys(regclass, regclass) TO pg_database_owner;
