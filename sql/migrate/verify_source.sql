-- sql/migrate/verify_source.sql
--
-- Read with the rights of the parent's owner, who must be allowed to.

CREATE FUNCTION zbxhist_internal.verify_source(source regclass, parent regclass)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    owner  CONSTANT oid := (SELECT k.relowner FROM pg_class k WHERE k.oid = parent);
    kind   CONSTANT "char" := (SELECT k.relkind FROM pg_class k WHERE k.oid = source);
    item record;
BEGIN
    IF kind IS NULL THEN
        RAISE EXCEPTION 'source must be a table that exists'
            USING ERRCODE = 'undefined_table';
    END IF;
    IF kind NOT IN ('r', 'p', 'f') THEN
        RAISE EXCEPTION 'cannot import %: it is no table', source
            USING ERRCODE = 'wrong_object_type';
    END IF;
    IF source = parent OR source IN (SELECT zbxhist_internal.own_children(parent))
       OR EXISTS (SELECT FROM zbxhist.parent_config c
                   WHERE c.parent = source OR zbxhist_internal.packed_table(c.parent) = source)
       OR EXISTS (SELECT FROM zbxhist.packed_day d WHERE d.day = source) THEN
        RAISE EXCEPTION 'cannot import %: it is managed by zbxhist', source
            USING ERRCODE = 'wrong_object_type';
    END IF;
    IF EXISTS (WITH RECURSIVE ancestor AS (
                   SELECT i.inhparent FROM pg_inherits i WHERE i.inhrelid = parent
                    UNION
                   SELECT i.inhparent FROM pg_inherits i JOIN ancestor a ON i.inhrelid = a.inhparent)
               SELECT FROM ancestor a WHERE a.inhparent = source) THEN
        RAISE EXCEPTION 'cannot import %: table % inherits from it', source, parent
            USING ERRCODE = 'wrong_object_type';
    END IF;
    IF NOT has_table_privilege(owner, source, 'SELECT') THEN
        RAISE EXCEPTION 'the owner of table % may not read table %', parent, source
            USING ERRCODE = 'insufficient_privilege',
                  HINT = format('GRANT SELECT ON %s TO %I;', source, pg_get_userbyid(owner));
    END IF;
    IF row_security_active(source) OR EXISTS (SELECT FROM pg_class k WHERE k.oid = source AND k.relrowsecurity) THEN
        RAISE EXCEPTION 'cannot import %: it has row security', source
            USING ERRCODE = 'feature_not_supported',
                  HINT = format('ALTER TABLE %s DISABLE ROW LEVEL SECURITY;', source);
    END IF;
    FOR item IN
        SELECT p.attname, format_type(p.atttypid, p.atttypmod) AS type, s.atttypid IS NULL AS is_missing,
               s.atttypid <> p.atttypid OR s.atttypmod <> p.atttypmod AS is_other, format_type(s.atttypid, s.atttypmod) AS its
          FROM pg_attribute p
          LEFT JOIN pg_attribute s ON s.attrelid = source AND s.attname = p.attname AND s.attnum > 0 AND NOT s.attisdropped
         WHERE p.attrelid = parent AND p.attnum > 0 AND NOT p.attisdropped AND p.attgenerated = ''
         ORDER BY p.attnum
    LOOP
        IF item.is_missing THEN
            RAISE EXCEPTION 'table % has no column "%"', source, item.attname
                USING ERRCODE = 'undefined_column';
        ELSIF item.is_other THEN
            RAISE EXCEPTION 'column "%" of table % is of type %, not %', item.attname, source, item.its, item.type
                USING ERRCODE = 'datatype_mismatch',
                      HINT = format('ALTER TABLE %s ALTER COLUMN %I TYPE %s;', source, item.attname, item.type);
        END IF;
    END LOOP;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.verify_source(regclass, regclass) IS
'Raises an error unless the rows of a table can be imported into a managed one (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.verify_source(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.verify_source(regclass, regclass) TO PUBLIC;
