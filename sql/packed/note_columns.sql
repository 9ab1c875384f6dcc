-- sql/packed/note_columns.sql
--
-- The caller has locked the foreign table, so nobody is reading packed days.  A
-- column that is renamed later keeps the name in packed days that is noted here.
-- What older days have under the name of a new column was dropped from the
-- table, and is given another name.

CREATE FUNCTION zbxhist_internal.note_columns(parent regclass, packed regclass, day regclass)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    item    record;
    changes text;
BEGIN
    FOR item IN
        SELECT d.day, n AS column,
               (SELECT left(n::text, 40) || '_dropped_' || (max(l.attnum) + count(*))
                  FROM pg_attribute l WHERE l.attrelid = d.day) AS other
          FROM zbxhist_internal.new_columns(packed) n
          JOIN zbxhist.packed_day d ON d.parent = note_columns.parent AND d.day <> note_columns.day
          JOIN pg_attribute a ON a.attrelid = d.day AND a.attname = n AND a.attnum > 6 + d.runs::integer AND NOT a.attisdropped
    LOOP
        PERFORM zbxhist_internal.execute_as_owner(parent, format(
            'ALTER TABLE %s RENAME COLUMN %I TO %I', item.day, item.column, item.other));
    END LOOP;
    SELECT string_agg(format('ALTER COLUMN %I OPTIONS (ADD packed %L)', a.attname, a.attname), ', ')
      INTO changes
      FROM pg_attribute a
     WHERE a.attrelid = packed AND a.attnum > 0 AND NOT a.attisdropped AND a.attinhcount > 0
       AND NOT EXISTS (SELECT FROM unnest(a.attfdwoptions) o WHERE starts_with(o, 'packed='));
    IF changes IS NOT NULL THEN
        PERFORM zbxhist_internal.execute_as_owner(packed, format('ALTER FOREIGN TABLE %s %s', packed, changes));
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.note_columns(regclass, regclass, regclass) IS
'Notes that a day has been packed with the columns of the foreign table that stands for it (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.note_columns(regclass, regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.note_columns(regclass, regclass, regclass) TO pg_database_owner;
