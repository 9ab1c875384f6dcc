-- sql/partitions/own_children.sql
--
-- A partition may have lost its bounds, or all may have by ALTER TABLE of their
-- parent.  Maintenance remembers what it has seen; a dump has the constraints.

CREATE FUNCTION zbxhist_internal.own_children(parent regclass)
RETURNS SETOF regclass
LANGUAGE sql STABLE STRICT PARALLEL SAFE ROWS 30
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT i.inhrelid::regclass
      FROM pg_inherits i
      JOIN pg_class k ON k.oid = i.inhrelid AND k.relkind = 'r' AND k.relpersistence <> 't'
     WHERE i.inhparent = own_children.parent
       AND (EXISTS (SELECT FROM zbxhist.list_partitions(own_children.parent) p WHERE p.partition = k.oid)
            OR EXISTS (SELECT FROM zbxhist.partition_state s
                        WHERE s.partition = k.oid AND s.parent = own_children.parent)
            OR EXISTS (SELECT FROM pg_constraint c
                        WHERE c.conrelid = k.oid AND c.conname = 'zbxhist_clock' AND c.contype = 'c'))
     ORDER BY i.inhrelid
$$;

COMMENT ON FUNCTION zbxhist_internal.own_children(regclass) IS
'The children of a managed table that are its partitions, or were before something was altered (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.own_children(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.own_children(regclass) TO PUBLIC;
