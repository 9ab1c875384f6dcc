-- sql/packed/days_to_verify.sql

CREATE FUNCTION zbxhist_internal.days_to_verify(parent regclass)
RETURNS SETOF regclass
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE ROWS 10
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    period  CONSTANT interval := zbxhist_internal.verify_interval();
    present CONSTANT timestamptz := clock_timestamp();
    share   numeric;
    due     record;
BEGIN
    RETURN QUERY
        SELECT d.day FROM zbxhist_internal.met_damage() m
          JOIN zbxhist.packed_day d ON d.day = m.day
          JOIN pg_class k ON k.oid = d.day
          LEFT JOIN zbxhist.verified_day v ON v.day = d.day AND v.problem IS NOT NULL
         WHERE d.parent = days_to_verify.parent
           -- what is known to be damaged is met again and again
           AND coalesce(v.verified_at < present - interval '1 day', true);
    IF period <= interval '0' THEN
        RETURN;
    END IF;
    -- of all, as much a day as makes them all in that time, less what was verified today
    SELECT sum(pg_relation_size(d.day)) * least(1, 86400 / extract(epoch FROM period))
           - coalesce(sum(pg_relation_size(d.day)) FILTER (WHERE v.verified_at > present - interval '1 day'), 0)
      INTO share
      FROM zbxhist.packed_day d
      JOIN pg_class k ON k.oid = d.day
      LEFT JOIN zbxhist.verified_day v ON v.day = d.day
     WHERE d.parent = days_to_verify.parent AND NOT d.unpacked AND NOT d.runs;
    FOR due IN
        SELECT d.day, pg_relation_size(d.day) AS bytes
          FROM zbxhist.packed_day d
          JOIN pg_class k ON k.oid = d.day
          LEFT JOIN zbxhist.verified_day v ON v.day = d.day
         CROSS JOIN LATERAL (SELECT coalesce(v.verified_at, greatest(d.packed_at, d.repacked_at)) AS moment) l
         WHERE d.parent = days_to_verify.parent AND NOT d.unpacked AND NOT d.runs
           AND l.moment < present - least(period, interval '1 day')
         ORDER BY l.moment, d.from_clock
    LOOP
        EXIT WHEN share <= 0;
        share := share - due.bytes;
        RETURN QUERY SELECT due.day;
    END LOOP;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.days_to_verify(regclass) IS
'The packed days that maintenance is to look through now: those in which a query has met damage, and the share of a day of all, longest not looked at first (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.days_to_verify(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.days_to_verify(regclass) TO PUBLIC;
