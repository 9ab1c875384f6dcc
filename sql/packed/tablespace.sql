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

-- Raises an error unless a policy may get this tablespace for packed days, NULL: that which it has.
CREATE FUNCTION zbxhist_internal.verify_tablespace(
    policy zbxhist.parent_config, packed_tablespace name, packed_tablespace_after interval) RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    owner CONSTANT oid := (SELECT k.relowner FROM pg_class k WHERE k.oid = policy.parent);
BEGIN
    PERFORM zbxhist_internal.refuse('22023', 'packed_tablespace_after must be between 0 and 200 years')
      WHERE NOT packed_tablespace_after BETWEEN interval '0' AND interval '200 years';
    PERFORM zbxhist_internal.refuse('22023', 'packed_tablespace_after needs a packed_tablespace')
      WHERE packed_tablespace_after IS NOT NULL AND coalesce(packed_tablespace, policy.packed_tablespace, '') = '';
    IF packed_tablespace = 'pg_global' THEN
        PERFORM zbxhist_internal.refuse('22023', 'only shared relations can be placed in pg_global tablespace');
    ELSIF packed_tablespace <> '' AND NOT EXISTS (SELECT FROM pg_tablespace t WHERE t.spcname = packed_tablespace) THEN
        PERFORM zbxhist_internal.refuse('42704', format('tablespace "%s" does not exist', packed_tablespace));
    ELSIF packed_tablespace <> '' AND NOT zbxhist_internal.may_create_in(owner, packed_tablespace) THEN
        PERFORM zbxhist_internal.refuse('42501', format('permission denied for tablespace %s', packed_tablespace),
            detail => format('Packed days of table %s belong to its owner, %s.', policy.parent, owner::regrole),
            hint => format('GRANT CREATE ON TABLESPACE %I TO %s;', packed_tablespace, owner::regrole));
    END IF;
END
$$;
