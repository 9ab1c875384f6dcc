-- sql/maintenance/mend_columns.sql
--
-- One column at a time: the next one is told when this one is as it was.  What
-- ALTER TABLE cannot bring back, undo can do without.

CREATE FUNCTION zbxhist_internal.mend_columns(parent regclass)
RETURNS text
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    wanted record;
    actual pg_attribute;
    former name;
BEGIN
    FOR wanted IN
        SELECT * FROM (VALUES ('itemid'::name, 'bigint'::regtype),
                              ('clock', 'integer')) AS v (name, type)
    LOOP
        SELECT * INTO actual FROM pg_attribute a
         WHERE a.attrelid = parent AND a.attname = wanted.name AND a.attnum > 0 AND NOT a.attisdropped;
        IF NOT FOUND THEN
            former := zbxhist_internal.renamed_column(parent, wanted.name);
            EXIT WHEN former IS NULL;
            RETURN format('ALTER TABLE %s RENAME COLUMN %I TO %I;', parent, former, wanted.name);
        END IF;
        IF actual.atttypid <> wanted.type THEN
            EXIT WHEN NOT EXISTS (SELECT FROM pg_cast c
                                   WHERE c.castsource = actual.atttypid AND c.casttarget = wanted.type
                                     AND c.castcontext IN ('a', 'i'));
            RETURN format('ALTER TABLE %s ALTER COLUMN %I TYPE %s;', parent, wanted.name, wanted.type);
        END IF;
        IF NOT actual.attnotnull THEN
            RETURN format('ALTER TABLE %s ALTER COLUMN %I SET NOT NULL;', parent, wanted.name);
        END IF;
    END LOOP;
    RETURN format('CALL zbxhist.undo(%L);', parent);
END
$$;

COMMENT ON FUNCTION zbxhist_internal.mend_columns(regclass) IS
'The command that gives a managed table the next of the columns that it must have, or else makes it a plain one (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.mend_columns(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.mend_columns(regclass) TO PUBLIC;
