-- sql/partitions/clone_indexes.sql
--
-- Primary key, unique and exclusion constraints first, then the other
-- indexes, each in the tablespace and with the storage settings that the
-- parent's has.  The names are chosen by PostgreSQL, which also evaluates
-- expressions as the table's owner when an index is made.

CREATE FUNCTION zbxhist_internal.clone_indexes(parent regclass, partition regclass)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET default_tablespace = ''
AS $$
DECLARE
    item   record;
    prefix text;
    former name;
    copy   oid;
BEGIN
    FOR item IN
        SELECT c.oid AS constraint_oid, c.contype, x.indexrelid, k.relname, k.reloptions,
               x.indisunique, x.indisreplident,
               coalesce(t.spcname, '') AS tablespace,
               CASE WHEN c.oid IS NULL
                    THEN pg_get_indexdef(x.indexrelid)
                    ELSE pg_get_constraintdef(c.oid) END AS definition
          FROM zbxhist_internal.missing_indexes(parent, partition) x
          JOIN pg_class k ON k.oid = x.indexrelid
          LEFT JOIN pg_constraint c ON c.conindid = x.indexrelid AND c.conrelid = x.indrelid
                                   AND c.contype IN ('p', 'u', 'x')
          LEFT JOIN pg_tablespace t ON t.oid = k.reltablespace
         WHERE zbxhist_internal.own_pages(partition) = 0 OR NOT x.indisunique AND NOT x.indisexclusion
         ORDER BY c.oid IS NULL, c.contype, k.relname
    LOOP
        PERFORM set_config('default_tablespace', item.tablespace, true);
        IF item.constraint_oid IS NOT NULL THEN
            -- an empty table's primary key that the parent has no more
            SELECT c.conname INTO former FROM pg_constraint c
             WHERE c.conrelid = partition AND c.contype = 'p' AND item.contype = 'p';
            EXECUTE format('ALTER TABLE %s %s ADD %s', partition,
                           'DROP CONSTRAINT ' || quote_ident(former) || ',', item.definition);
        ELSE
            prefix := format('CREATE %sINDEX %I ON %s ',
                             CASE WHEN item.indisunique THEN 'UNIQUE ' ELSE '' END,
                             item.relname, parent);
            IF NOT starts_with(item.definition, prefix) THEN
                RAISE EXCEPTION 'cannot copy index "%" of table %', item.relname, parent
                    USING ERRCODE = 'feature_not_supported',
                          DETAIL = item.definition;
            END IF;
            EXECUTE format('CREATE %sINDEX ON %s %s',
                           CASE WHEN item.indisunique THEN 'UNIQUE ' ELSE '' END,
                           partition, substr(item.definition, length(prefix) + 1));
        END IF;
        -- the one just made is the newest
        SELECT x.indexrelid INTO STRICT copy
          FROM pg_index x
         WHERE x.indrelid = partition
         ORDER BY x.indexrelid::bigint DESC LIMIT 1;
        IF item.constraint_oid IS NOT NULL AND item.reloptions IS NOT NULL THEN
            PERFORM zbxhist_internal.execute_as_owner(partition, format(
                'ALTER INDEX %s SET (%s)', copy::regclass,
                zbxhist_internal.format_options(item.reloptions)));
        END IF;
        IF item.indisreplident THEN
            PERFORM zbxhist_internal.execute_as_owner(partition, format(
                'ALTER TABLE %s REPLICA IDENTITY USING INDEX %I', partition,
                (SELECT k.relname FROM pg_class k WHERE k.oid = copy)));
        END IF;
    END LOOP;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.clone_indexes(regclass, regclass) IS
'Gives a partition the indexes of its parent that it has not, and the keys as well if it is empty (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.clone_indexes(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.clone_indexes(regclass, regclass) TO pg_database_owner;
