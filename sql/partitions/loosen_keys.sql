-- sql/partitions/loosen_keys.sql
--
-- Where a page's last item outgrows it, PostgreSQL leaves that page full to the
-- fillfactor, 90, with items that grow as well: it is split again soon, and the
-- tree of an hour has more pages than its entries need.  An item with a value
-- in 10 seconds to 5 minutes takes up to a tenth less with 70.

CREATE FUNCTION zbxhist_internal.loosen_keys(partition regclass)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    key regclass;
BEGIN
    FOR key IN
        SELECT x.indexrelid
          FROM pg_index x
          JOIN pg_class k ON k.oid = x.indexrelid
          JOIN pg_am a ON a.oid = k.relam
         WHERE x.indrelid = partition AND x.indisunique AND a.amname = 'btree'
           AND k.reloptions IS NULL
    LOOP
        PERFORM zbxhist_internal.execute_as_owner(partition, format('ALTER INDEX %s SET (fillfactor = 70)', key));
    END LOOP;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.loosen_keys(regclass) IS
'Gives keys of a new partition that lasts less than a day the fillfactor that keeps them smallest (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.loosen_keys(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.loosen_keys(regclass) TO pg_database_owner;
