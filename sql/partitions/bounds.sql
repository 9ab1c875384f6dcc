-- sql/partitions/bounds.sql

-- Trigger function of the managed tables: stores each new row in the partition of its clock.
CREATE FUNCTION zbxhist.route() RETURNS trigger
LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'zbxhist_route';

-- Makes all sessions read the partitions and the policy of a managed table again.
CREATE FUNCTION zbxhist_internal.invalidate(parent regclass) RETURNS void
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'zbxhist_invalidate';

-- Clock range of a partition, from included, to excluded, from its constraint zbxhist_clock; NULLs
-- if it has none.
CREATE FUNCTION zbxhist.partition_bounds(partition regclass, OUT from_clock bigint, OUT to_clock bigint)
LANGUAGE c STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zbxhist_partition_bounds';

-- The partitions of a managed table with their clock ranges, oldest first.
CREATE FUNCTION zbxhist.list_partitions(parent regclass)
RETURNS TABLE (partition regclass, from_clock bigint, to_clock bigint)
LANGUAGE c STABLE STRICT PARALLEL SAFE ROWS 30 AS 'MODULE_PATHNAME', 'zbxhist_list_partitions';

-- Clock range of a partition of a natively partitioned table, from included, to excluded; NULLs for
-- a default partition.
CREATE FUNCTION zbxhist_internal.native_bounds(partition regclass, OUT from_clock bigint, OUT to_clock bigint)
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT replace(b.clocks[1], 'MINVALUE', '-2147483648')::bigint, replace(b.clocks[2], 'MAXVALUE', '2147483648')::bigint
      FROM pg_class k
      LEFT JOIN LATERAL regexp_match(pg_get_expr(k.relpartbound, k.oid),
                                     'FROM \(''?(-?\d+|MINVALUE)''?\) TO \(''?(-?\d+|MAXVALUE)''?\)') b (clocks) ON true
     WHERE k.oid = partition
$$;

-- The clock ranges of a managed table's partitions and packed days, or of an audit log's partitions.
CREATE FUNCTION zbxhist_internal.list_ranges(parent regclass)
RETURNS TABLE (relation regclass, from_clock bigint, to_clock bigint, is_packed boolean)
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 30 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY
        SELECT p.partition, p.from_clock, p.to_clock, false
          FROM zbxhist.list_partitions(parent) p
         UNION ALL
        SELECT d.day, d.from_clock, d.to_clock, true
          FROM zbxhist.packed_day d
         WHERE d.parent = list_ranges.parent
         UNION ALL
        SELECT i.inhrelid, n.from_clock, n.to_clock, false
          FROM pg_partitioned_table t
          JOIN pg_inherits i ON i.inhparent = t.partrelid AND i.inhrelid <> t.partdefid
         CROSS JOIN LATERAL zbxhist_internal.native_bounds(i.inhrelid) n
         WHERE t.partrelid = list_ranges.parent;
END
$$;

-- The partitions and packed days to be dropped or detached, because their whole range is past retention;
-- partitions first, then packed days, each from the oldest on.
CREATE FUNCTION zbxhist_internal.expired(parent regclass) RETURNS TABLE (relation regclass, is_packed boolean)
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY
        SELECT r.relation, r.is_packed
          FROM zbxhist_internal.deletion_limit(parent) l,
               zbxhist_internal.list_ranges(parent) r
          JOIN pg_class k ON k.oid = r.relation
         WHERE r.to_clock <= l.allowed
         ORDER BY r.is_packed, r.from_clock;
END
$$;

-- Returns the condition of the constraint zbxhist_clock for a range of clocks.
CREATE FUNCTION zbxhist_internal.bounds_condition(from_clock bigint, to_clock bigint) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT concat_ws(' AND ',
        CASE WHEN from_clock > -2147483648 THEN format('clock >= %s', from_clock) END,
        CASE WHEN to_clock < 2147483648 THEN format('clock < %s', to_clock) END)
$$;

-- The partitions and packed days whose ranges overlap with others, and with which.
-- Of tables that overlap, one is reported as the cause: the one that overlaps with the most, or else a
-- partition rather than a packed day, or else the latest.
CREATE FUNCTION zbxhist_internal.overlapping(parent regclass)
RETURNS TABLE (relation regclass, others regclass[], is_packed boolean, from_clock bigint)
LANGUAGE sql STABLE STRICT PARALLEL SAFE ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
    WITH pair AS (
        SELECT a.relation, a.is_packed, a.from_clock, b.relation AS other, b.from_clock AS other_clock
          FROM zbxhist_internal.list_ranges(parent) a
          JOIN zbxhist_internal.list_ranges(parent) b
            ON b.from_clock < a.to_clock AND a.from_clock < b.to_clock AND a.relation <> b.relation
         WHERE NOT EXISTS (SELECT FROM zbxhist.packed_day d
                            WHERE (d.day, d.partition) IN ((a.relation, b.relation), (b.relation, a.relation)))),
    told AS (
        SELECT p.relation, array_agg(p.other ORDER BY p.other_clock, p.other::oid) AS others, p.is_packed, p.from_clock,
               ARRAY[count(*), (NOT p.is_packed)::integer, p.from_clock, p.relation::oid::bigint] AS weight
          FROM pair p
         GROUP BY p.relation, p.is_packed, p.from_clock)
    SELECT t.relation, t.others, t.is_packed, t.from_clock
      FROM told t
     WHERE NOT EXISTS (SELECT FROM told o WHERE o.relation = ANY (t.others) AND o.weight > t.weight)
     ORDER BY t.weight DESC
$$;

-- The partitions, packed days and foreign table of a managed table that have another owner than the
-- table.
CREATE FUNCTION zbxhist_internal.foreign_children(parent regclass) RETURNS SETOF regclass
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY
        SELECT k.oid::regclass
          FROM pg_class k
         WHERE k.relowner <> (SELECT p.relowner FROM pg_class p WHERE p.oid = foreign_children.parent)
           AND (k.oid = zbxhist_internal.packed_table(parent)
                OR k.oid IN (SELECT r.relation FROM zbxhist_internal.list_ranges(parent) r))
         ORDER BY k.oid;
END
$$;

-- The children of a managed table that are its partitions, or were before somebody altered something.
-- A partition may have lost its bounds, or an ALTER TABLE of the parent may have changed those of all.
-- partition_state lists those that maintenance has seen; after a restore, only constraints tell.
CREATE FUNCTION zbxhist_internal.own_children(parent regclass) RETURNS SETOF regclass
LANGUAGE sql STABLE STRICT PARALLEL SAFE ROWS 30 SET search_path = pg_catalog, pg_temp AS $$
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

-- Makes a role the owner of a new relation and revokes all privileges of others.
CREATE FUNCTION zbxhist_internal.own_alone(relation regclass, owner oid) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM zbxhist_internal.revoke_all(relation);
    PERFORM zbxhist_internal.give_to(relation, owner);
END
$$;

-- Revokes all privileges on a table and its columns from others than its owner, such as those from ALTER
-- DEFAULT PRIVILEGES.
CREATE FUNCTION zbxhist_internal.revoke_all(relation regclass) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM zbxhist_internal.execute_as_owner(
                relation, format('REVOKE ALL ON TABLE %s FROM %s CASCADE', relation, zbxhist_internal.role_name(g.grantee)))
       FROM (SELECT p.grantee FROM zbxhist_internal.privileges(relation) p GROUP BY p.grantee) g;
END
$$;

-- The privileges on a table and its columns of others than its owner.
CREATE FUNCTION zbxhist_internal.privileges(relation regclass)
RETURNS TABLE (grantee oid, privilege_type text, is_grantable boolean, column_name name)
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT g.grantee, g.privilege_type, g.is_grantable, a.attname
      FROM pg_class k
     CROSS JOIN LATERAL (
           SELECT NULL::name, k.relacl
            UNION ALL
           SELECT c.attname, c.attacl FROM pg_attribute c
            WHERE c.attrelid = k.oid AND c.attnum > 0 AND NOT c.attisdropped) a (attname, acl)
     CROSS JOIN LATERAL aclexplode(a.acl) g
     WHERE k.oid = relation AND g.grantee <> k.relowner
$$;

-- All managed tables, in the order in which Zabbix locks them.
CREATE FUNCTION zbxhist_internal.parent_list() RETURNS regclass[]
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(array_agg(c.parent ORDER BY n.nspname, coalesce(z.ordinal, 100), k.relname), '{}')
      FROM zbxhist.parent_config c
      JOIN pg_class k ON k.oid = c.parent
      JOIN pg_namespace n ON n.oid = k.relnamespace
      LEFT JOIN zbxhist_internal.zabbix_tables() z ON z.table_name = k.relname
$$;

-- Number of rows of one table, as the statistics know it.
CREATE FUNCTION zbxhist_internal.estimated_rows(relation regclass) RETURNS bigint
LANGUAGE sql VOLATILE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN pg_relation_size(k.oid) = 0 THEN 0
                ELSE greatest(k.reltuples::bigint, pg_stat_get_live_tuples(k.oid), 0) END
      FROM pg_class k WHERE k.oid = relation
$$;

-- Number of rows of one table, as the statistics know it or, if there are none, estimated by its size.
-- A table that was filled by a restore, or before a crash, has no statistics.
CREATE FUNCTION zbxhist_internal.probable_rows(relation regclass) RETURNS bigint
LANGUAGE sql VOLATILE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(nullif(zbxhist_internal.estimated_rows(relation), 0),
                    80 * zbxhist_internal.own_pages(relation))
$$;
