-- sql/read/statistics.sql

CREATE FUNCTION zbxhist.statistics(
    parent regclass,
    itemid bigint,
    from_clock integer,
    to_clock integer)
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
AS 'MODULE_PATHNAME', 'zbxhist_statistics';

COMMENT ON FUNCTION zbxhist.statistics(regclass, bigint, integer, integer) IS
'Aggregates of the values of an item from one clock, included, to another, excluded; delta is max - min; in trends, of the values behind them';

REVOKE ALL ON FUNCTION zbxhist.statistics(regclass, bigint, integer, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.statistics(regclass, bigint, integer, integer) TO PUBLIC;
