-- sql/partitions/foreign_children.sql

CREATE FUNCTION zbxhist_internal.foreign_children(parent regclass)
RETURNS SETOF regclass
LANGUAGE sql STABLE STRICT PARALLEL SAFE ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT k.oid::regclass
      FROM pg_class k
     WHERE k.relowner <> (SELECT p.relowner FROM pg_class p WHERE p.oid = foreign_children.parent)
       AND (k.oid = zbxhist_internal.packed_table(parent)
            OR k.oid IN (SELECT r.relation FROM zbxhist_internal.list_ranges(parent) r))
     ORDER BY k.oid
$$;

COMMENT ON FUNCTION zbxhist_internal.foreign_children(regclass) IS
'The partitions, packed days and foreign table of a managed table that belong to another role than it does (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.foreign_children(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.foreign_children(regclass) TO PUBLIC;
