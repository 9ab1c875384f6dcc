-- sql/setup/verify_table.sql
--
-- Everything that keeps a table from becoming a parent, said before anything
-- is changed.

CREATE FUNCTION zbxhist_internal.verify_table(parent regclass)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    relation pg_class;
    kind     text;
BEGIN
    IF parent IS NULL THEN
        RAISE EXCEPTION 'table must not be null'
            USING ERRCODE = 'null_value_not_allowed';
    END IF;
    SELECT * INTO relation FROM pg_class k WHERE k.oid = parent;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'table with OID % does not exist', parent::oid
            USING ERRCODE = 'undefined_table';
    END IF;
    IF relation.relkind <> 'r' THEN
        kind := CASE relation.relkind
            WHEN 'p' THEN 'a natively partitioned table'
            WHEN 'v' THEN 'a view'
            WHEN 'm' THEN 'a materialized view'
            WHEN 'f' THEN 'a foreign table'
            ELSE 'not a table' END;
        RAISE EXCEPTION 'cannot manage %: it is %', parent, kind
            USING ERRCODE = 'wrong_object_type',
                  HINT = CASE relation.relkind
                      WHEN 'p' THEN format('CALL zbxhist.adopt_partitions(%L);', parent)
                      ELSE 'zbxhist manages plain tables.' END;
    END IF;
    IF relation.relpersistence = 't' THEN
        RAISE EXCEPTION 'cannot manage %: it is a temporary table', parent
            USING ERRCODE = 'feature_not_supported';
    END IF;
    IF relation.relispartition
       OR EXISTS (SELECT FROM pg_inherits i WHERE i.inhrelid = parent) THEN
        RAISE EXCEPTION 'cannot manage %: it is a partition or inherits from another table', parent
            USING ERRCODE = 'wrong_object_type',
                  HINT = 'Name the table at the top.';
    END IF;
    IF relation.reloftype <> 0 THEN
        RAISE EXCEPTION 'cannot manage %: it is a typed table', parent
            USING ERRCODE = 'feature_not_supported';
    END IF;
    PERFORM zbxhist_internal.verify_not_in_other_care(parent);
    IF (SELECT count(*) FROM pg_inherits i WHERE i.inhparent = parent)
       <> (SELECT count(*) FROM zbxhist.list_partitions(parent))
          + (zbxhist_internal.packed_table(parent) IS NOT NULL)::integer THEN
        RAISE EXCEPTION 'cannot manage %: other tables inherit from it', parent
            USING ERRCODE = 'wrong_object_type',
                  HINT = 'If these are partitions of an older scheme, move their rows into the table and drop them, and the trigger of that scheme.';
    END IF;
    IF EXISTS (SELECT FROM pg_constraint c WHERE c.confrelid = parent) THEN
        RAISE EXCEPTION 'cannot manage %: a foreign key refers to it', parent
            USING ERRCODE = 'feature_not_supported',
                  HINT = 'A foreign key sees only the rows of the table itself, not those of partitions.';
    END IF;
    PERFORM zbxhist_internal.verify_columns(parent);
    PERFORM zbxhist_internal.require_owner(parent);
END
$$;

COMMENT ON FUNCTION zbxhist_internal.verify_table(regclass) IS
'Raises an error unless the table can become a managed one (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.verify_table(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.verify_table(regclass) TO PUBLIC;
