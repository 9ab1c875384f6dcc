-- sql/migrate/source_blocks.sql
--
-- A table without an index that begins with the clock would be read once for each
-- day.  Values come in the order of time, mostly: of each 64 MB, or less of a small table, it is
-- noted which clocks they have.

CREATE FUNCTION zbxhist_internal.source_blocks(source regclass, parent regclass)
RETURNS TABLE (first_block bigint, end_block bigint, low bigint, high bigint)
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    pages CONSTANT bigint := pg_relation_size(source) / current_setting('block_size')::bigint;
    step  CONSTANT bigint := least(8192, greatest(64, pages / 256));
BEGIN
    IF EXISTS (SELECT FROM pg_inherits i WHERE i.inhparent = source)
       OR (SELECT k.relkind FROM pg_class k WHERE k.oid = source) <> 'r'
       OR EXISTS (SELECT FROM pg_index x JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = x.indkey[0]
                   WHERE x.indrelid = source AND x.indisvalid AND a.attname = 'clock') THEN
        FOR low, high IN SELECT r.low, r.high FROM zbxhist_internal.source_days(source, parent) r LOOP
            RETURN NEXT;
        END LOOP;
        RETURN;
    END IF;
    FOR block IN 0 .. greatest(pages - 1, 0) BY step LOOP
        first_block := block;
        end_block := block + step;
        SELECT r.low, r.high INTO low, high
          FROM zbxhist_internal.source_range(source, parent, first_block, end_block) r;
        IF low IS NOT NULL THEN
            RETURN NEXT;
        END IF;
    END LOOP;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.source_blocks(regclass, regclass) IS
'Ranges of blocks of a table with the clocks that their rows have; days without blocks where rows are found by their clock (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.source_blocks(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.source_blocks(regclass, regclass) TO pg_database_owner;
