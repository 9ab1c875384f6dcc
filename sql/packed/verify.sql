-- sql/packed/verify.sql

-- Verifies all checksums, values and statistics of a packed day; returns a row for each damage.
CREATE FUNCTION zbxhist_internal.verify_day(day regclass) RETURNS TABLE (itemid bigint, clock integer, problem text)
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE ROWS 10 AS 'MODULE_PATHNAME', 'zbxhist_verify_day';

-- Notes that a packed day was verified, and its damage; NULL if it is intact.
CREATE FUNCTION zbxhist_internal.note_verified(parent regclass, day regclass, problem text) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    -- a standby, or a read-only transaction, cannot note it
    IF NOT current_setting('transaction_read_only')::boolean
       AND has_table_privilege('zbxhist.verified_day', 'INSERT, UPDATE') THEN
        INSERT INTO zbxhist.verified_day AS v (day, parent, verified_at, found_at, problem)
        VALUES (day, parent, clock_timestamp(), CASE WHEN problem IS NOT NULL THEN clock_timestamp() END, problem)
        ON CONFLICT ON CONSTRAINT verified_day_pkey DO UPDATE
           SET verified_at = excluded.verified_at, problem = excluded.problem,
               found_at = CASE WHEN excluded.problem IS NOT NULL THEN coalesce(v.found_at, excluded.found_at) END;
    END IF;
END
$$;

-- The packed days that maintenance is to verify now, those first whose last verification is oldest.
-- Each day's share is such that all are verified within 30 days.
CREATE FUNCTION zbxhist_internal.days_to_verify(parent regclass) RETURNS SETOF regclass
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE ROWS 10 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    yesterday CONSTANT timestamptz := clock_timestamp() - interval '1 day';
BEGIN
    RETURN QUERY
        SELECT t.day
          FROM (SELECT b.*, sum(b.bytes) OVER (ORDER BY b.moment, b.from_clock) - b.bytes AS before,
                       -- today's share of all bytes, less what was verified today
                       sum(b.bytes) OVER () / 30 - coalesce(sum(b.bytes) FILTER (WHERE b.verified_at > yesterday) OVER (), 0) AS share
                  FROM (SELECT d.day, d.from_clock, v.verified_at, zbxhist_internal.day_bytes(d.day) AS bytes,
                               coalesce(v.verified_at, greatest(d.packed_at, d.repacked_at)) AS moment
                          FROM zbxhist.packed_day d
                          JOIN pg_class k ON k.oid = d.day
                          LEFT JOIN zbxhist.verified_day v ON v.day = d.day
                         WHERE d.parent = days_to_verify.parent AND NOT d.unpacked AND d.archive_copy IS NULL) b) t
         WHERE t.moment < yesterday AND t.before < t.share
         ORDER BY t.moment, t.from_clock;
END
$$;

-- Verifies the checksums, values and statistics of all packed days of a managed table; no rows if all
-- are intact.
CREATE FUNCTION zbxhist.verify(parent regclass) RETURNS TABLE (day regclass, itemid bigint, clock integer, problem text)
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    first text;
BEGIN
    PERFORM zbxhist_internal.require_parent(parent);
    FOR day IN
        SELECT d.day FROM zbxhist.packed_day d
          JOIN pg_class k ON k.oid = d.day
         WHERE d.parent = verify.parent
         ORDER BY d.from_clock
    LOOP
        first := NULL;
        FOR itemid, clock, problem IN SELECT * FROM zbxhist_internal.verify_day(verify.day) LOOP
            first := coalesce(first, problem);
            RETURN NEXT;
        END LOOP;
        PERFORM zbxhist_internal.note_verified(parent, day, first);
        IF first IS NOT NULL THEN
            RAISE WARNING 'packed day % is damaged', day
                USING DETAIL = 'A backup or a standby may have it undamaged.  Without one, the command keeps all readable rows and says what is lost.',
                      HINT = format('CALL zbxhist.salvage(%L::regclass);', day);
        END IF;
    END LOOP;
END
$$;
