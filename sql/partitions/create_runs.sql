-- sql/partitions/create_runs.sql
--
-- A table as that of a packed day, but for its indexes: a run's rows are of many
-- items, and its clocks the least and the greatest of all of them.  What a
-- statement has stored is found by the time that it ends, and has no other index
-- entry; what a merge has written, by its batch and items, see run_index.c.

CREATE FUNCTION zbxhist_internal.create_runs(parent regclass, from_clock bigint, to_clock bigint)
RETURNS regclass
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET default_tablespace = ''
AS $$
DECLARE
    source CONSTANT pg_class := (SELECT k FROM pg_class k WHERE k.oid = parent);
    packed regclass := zbxhist_internal.packed_table(parent);
    result regclass;
    place  text;
BEGIN
    IF packed IS NULL THEN
        packed := zbxhist_internal.create_packed_table(parent);
    END IF;
    result := zbxhist_internal.create_day_of_range(
        parent,
        zbxhist_internal.partition_name(parent, make_interval(secs => to_clock - from_clock), from_clock, to_clock),
        from_clock, to_clock, source.relpersistence, true);
    SELECT ' TABLESPACE ' || quote_ident(t.spcname) INTO place
      FROM pg_tablespace t WHERE t.oid = source.reltablespace;
    PERFORM zbxhist_internal.execute_as_owner(result, format(
        'CREATE INDEX ON %s (%s)%s WHERE %s', result, i.columns, place, i.condition))
       FROM zbxhist_internal.run_indexes() i;
    -- merged runs leave their space to others soon
    PERFORM zbxhist_internal.execute_as_owner(result, format(
        'ALTER TABLE %s SET (autovacuum_vacuum_threshold = 64, autovacuum_vacuum_scale_factor = 0.1)', result));
    INSERT INTO zbxhist.packed_day (parent, day, from_clock, to_clock, nrows, runs)
    VALUES (parent, result, from_clock, to_clock, 0, true);
    PERFORM zbxhist_internal.attach_day(result, packed);
    PERFORM zbxhist_internal.note_columns(parent, packed, result);
    PERFORM zbxhist_internal.invalidate(parent);
    RETURN result;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.create_runs(regclass, bigint, bigint) IS
'Creates a table that takes the new values of a range of clocks as runs (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.create_runs(regclass, bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.create_runs(regclass, bigint, bigint) TO pg_database_owner;
