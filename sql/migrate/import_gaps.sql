-- sql/migrate/import_gaps.sql
--
-- What is over and has neither a partition nor a packed day, and would be packed
-- if it had.  Rows that an INSERT might refuse, or whose key may be null and so
-- be there twice, are inserted, as are those of a table with triggers of others,
-- which are to see them; and so are all while no partition tells whether
-- it could be packed.

CREATE FUNCTION zbxhist_internal.import_gaps(slice zbxhist.import_slice)
RETURNS TABLE (gap_from bigint, gap_to bigint)
LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT m.gap_from, m.gap_to
      FROM zbxhist.parent_config c,
           zbxhist_internal.missing_ranges((slice).parent, (slice).from_clock, (slice).to_clock) m
     WHERE c.parent = (slice).parent AND c.routing
       AND m.gap_to <= zbxhist_internal.clock_before(c.pack_after)
       AND EXISTS (SELECT FROM (SELECT p.partition FROM zbxhist.list_partitions((slice).parent) p
                                 ORDER BY p.from_clock DESC LIMIT 1) p
                    WHERE zbxhist_internal.not_packable((slice).parent, p.partition) IS NULL)
       AND NOT EXISTS (SELECT FROM zbxhist_internal.insert_triggers((slice).parent))
       AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conrelid = (slice).parent AND k.contype IN ('c', 'f'))
       AND NOT EXISTS (SELECT FROM pg_attribute a
                        WHERE a.attrelid = (slice).parent AND NOT a.attnotnull
                          AND a.attname = ANY (zbxhist_internal.key_columns((slice).parent)))
$$;

COMMENT ON FUNCTION zbxhist_internal.import_gaps(zbxhist.import_slice) IS
'The ranges of a slice of an import that are packed straight away (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.import_gaps(zbxhist.import_slice) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.import_gaps(zbxhist.import_slice) TO pg_database_owner;
