-- sql/packed/tablespace.sql

-- The tablespace of a table.
CREATE FUNCTION zbxhist_internal.tablespace_of(relation regclass) RETURNS name
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT t.spcname
      FROM pg_class k
      JOIN pg_database d ON d.datname = current_database()
      JOIN pg_tablespace t ON t.oid = coalesce(nullif(k.reltablespace, 0), d.dattablespace)
     WHERE k.oid = relation
$$;

-- Whether a tablespace exists in which a role may create tables.
-- As in CREATE TABLE, the tablespace of the database needs no privilege.
CREATE FUNCTION zbxhist_internal.may_create_in(role oid, tablespace name) RETURNS boolean
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT EXISTS (SELECT FROM pg_tablespace t
                     JOIN pg_database d ON d.datname = current_database()
                    WHERE t.spcname = tablespace
                      AND (t.oid = d.dattablespace OR has_tablespace_privilege(role, t.oid, 'CREATE')))
$$;

-- Returns the tablespace in which a packed day that ends at a clock belongs now; NULL: it stays where it
-- is, or is created where its parent is.
-- All parts of a day count as old as the day, so that they are moved once, after they are compacted.  If
-- the tablespace cannot be used, days are packed in that of the parent, and check() reports it.
CREATE FUNCTION zbxhist_internal.due_tablespace(parent regclass, to_clock bigint) RETURNS name
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (
        SELECT c.packed_tablespace
          FROM zbxhist.parent_config c
          JOIN pg_class k ON k.oid = c.parent
         WHERE c.parent = due_tablespace.parent
           AND (c.packed_tablespace_after = interval '0'
                OR ceil(due_tablespace.to_clock / 86400.0) * 86400 <= zbxhist_internal.clock_before(c.packed_tablespace_after))
           AND zbxhist_internal.may_create_in(k.relowner, c.packed_tablespace));
END
$$;
