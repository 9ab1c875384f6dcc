-- sql/packed/verify.sql

CREATE FUNCTION zbxhist.verify(parent regclass)
RETURNS TABLE (day regclass, itemid bigint, clock integer, problem text)
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    entry    record;
    first    text;
BEGIN
    PERFORM zbxhist_internal.require_parent(parent);
    FOR entry IN
        SELECT d.day,
               -- it is named by the midnight in it, if there is one
               CASE WHEN (d.to_clock - 1) / 86400 * 86400 >= d.from_clock THEN
                   format('%L, %L', verify.parent, to_char(to_timestamp((d.from_clock + 86399) / 86400 * 86400)
                                                    AT TIME ZONE 'UTC', 'YYYY-MM-DD'))
               ELSE format('%L', d.day) END AS arguments
          FROM zbxhist.packed_day d
          JOIN pg_class k ON k.oid = d.day
         WHERE d.parent = verify.parent
         ORDER BY d.from_clock
    LOOP
        day := entry.day;
        first := NULL;
        FOR itemid, clock, problem IN SELECT * FROM zbxhist_internal.verify_day(entry.day) LOOP
            first := coalesce(first, problem);
            RETURN NEXT;
        END LOOP;
        PERFORM zbxhist_internal.note_verified(parent, entry.day, first);
        IF first IS NOT NULL THEN
            RAISE WARNING 'packed day % is damaged', entry.day
                USING DETAIL = 'A backup or a standby may have it undamaged.  Without one, what can be read of it can be kept; what cannot is told then.',
                      HINT = format('CALL zbxhist.salvage(%s);', entry.arguments);
        END IF;
    END LOOP;
END
$$;

COMMENT ON FUNCTION zbxhist.verify(regclass) IS
'Looks through all packed days of a managed table: checksums, and statistics against values; no rows when all is well';

REVOKE ALL ON FUNCTION zbxhist.verify(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.verify(regclass) TO pg_database_owner;
