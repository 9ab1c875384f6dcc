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

-- Whether there is a tablespace of that name in which a role may create tables.
-- That of the database needs no privilege, as in CREATE TABLE.
CREATE FUNCTION zbxhist_internal.may_create_in(role oid, tablespace name) RETURNS boolean
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT EXISTS (SELECT FROM pg_tablespace t
                     JOIN pg_database d ON d.datname = current_database()
                    WHERE t.spcname = tablespace
                      AND (t.oid = d.dattablespace OR has_tablespace_privilege(role, t.oid, 'CREATE')))
$$;

-- The tablespace in which a packed day that ends there is to be by now; NULL: where it is, or where
-- its parent is.
-- All parts of a day have the same age, so that they are moved once: as the day
-- that is made of them.  Where the tablespace cannot be used packing goes on in
-- that of the parent, and check() tells.  Who maintains has the owner's privileges.
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
