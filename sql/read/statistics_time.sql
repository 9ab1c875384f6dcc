-- sql/read/statistics_time.sql

CREATE FUNCTION zbxhist.statistics(
    parent regclass,
    itemid bigint,
    from_time timestamptz,
    to_time timestamptz)
RETURNS TABLE (
    count bigint,
    min numeric,
    max numeric,
    sum numeric,
    avg numeric,
    delta numeric,
    first_clock integer,
    last_clock integer)
LANGUAGE c STABLE STRICT ROWS 1 PARALLEL SAFE
AS 'MODULE_PATHNAME', 'zbxhist_statistics_time';

COMMENT ON FUNCTION zbxhist.statistics(regclass, bigint, timestamptz, timestamptz) IS
'Aggregates of the values of an item from one time, included, to another, excluded; delta is max - min; in trends, of the values behind them';

REVOKE ALL ON FUNCTION zbxhist.statistics(regclass, bigint, timestamptz, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.statistics(regclass, bigint, timestamptz, timestamptz) TO PUBLIC;
