-- sql/operate/absorb_begin.sql

CREATE FUNCTION zbxhist_internal.absorb_begin(parent regclass, child regclass)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    other_column name;
    grandchild   regclass;
BEGIN
    PERFORM zbxhist_internal.lock_for_hand(parent);
    IF NOT EXISTS (SELECT FROM pg_inherits i
                     JOIN pg_class k ON k.oid = i.inhrelid AND k.relkind = 'r'
                    WHERE i.inhparent = parent AND i.inhrelid = child) THEN
        RAISE EXCEPTION 'table % does not inherit from table %', child, parent
            USING ERRCODE = 'wrong_object_type',
                  HINT = format('SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = %L::regclass;', parent);
    END IF;
    -- neither would be moved
    SELECT a.attname INTO other_column FROM pg_attribute a
     WHERE a.attrelid = child AND a.attnum > 0 AND NOT a.attisdropped
       AND NOT EXISTS (SELECT FROM pg_attribute p WHERE p.attrelid = parent AND p.attname = a.attname AND NOT p.attisdropped)
     ORDER BY a.attnum LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'table % has column "%", which table % does not have', child, other_column, parent
            USING ERRCODE = 'wrong_object_type',
                  DETAIL = 'Its values would be lost.',
                  HINT = format('ALTER TABLE %s DROP COLUMN %I;', child, other_column);
    END IF;
    SELECT i.inhrelid INTO grandchild FROM pg_inherits i WHERE i.inhparent = child ORDER BY i.inhrelid LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'table % inherits from table %', grandchild, child
            USING ERRCODE = 'wrong_object_type',
                  DETAIL = format('Its rows would not be read in table %s any more.', parent),
                  HINT = format('ALTER TABLE %1$s NO INHERIT %2$s, INHERIT %3$s;', grandchild, child, parent);
    END IF;
    IF NOT EXISTS (SELECT FROM zbxhist.list_partitions(parent) p WHERE p.partition = child) THEN
        RETURN;
    END IF;
    IF NOT EXISTS (SELECT FROM zbxhist_internal.list_ranges(parent) b
                     JOIN zbxhist_internal.list_ranges(parent) o
                       ON o.relation <> b.relation AND o.from_clock < b.to_clock AND o.to_clock > b.from_clock
                    WHERE b.relation = child) THEN
        RAISE EXCEPTION 'table % is a partition of table %, and no other is for its time', child, parent
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = format('SELECT * FROM zbxhist.partitions WHERE parent = %L::regclass;', parent);
    END IF;
    PERFORM zbxhist_internal.lock_exclusively(child, zbxhist_internal.short_lock_timeout());
    PERFORM zbxhist_internal.execute_as_owner(parent, format('ALTER TABLE %s DROP CONSTRAINT zbxhist_clock', child));
    DELETE FROM zbxhist.partition_state s WHERE s.partition = child;
    PERFORM zbxhist_internal.invalidate(parent);
END
$$;

COMMENT ON FUNCTION zbxhist_internal.absorb_begin(regclass, regclass) IS
'Makes sure that a child of a managed table is to be absorbed, and has no more rows sent to it (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.absorb_begin(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.absorb_begin(regclass, regclass) TO pg_database_owner;
