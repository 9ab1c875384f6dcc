-- sql/read.sql

-- The functions that take times call those that take clocks.  They set no search_path, which would
-- keep the planner from inlining them; so every name is qualified.

-- Returns the clock of a time; the first or last clock if the time is out of range.
CREATE FUNCTION zbxhist_internal.time_clock(moment timestamptz) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN moment OPERATOR(pg_catalog.>=) timestamp with time zone '2038-01-19 03:14:08+00' THEN 2147483647
                WHEN moment OPERATOR(pg_catalog.<) timestamp with time zone '1901-12-13 20:45:52+00' THEN -2147483648
                ELSE pg_catalog.floor(extract(epoch FROM moment OPERATOR(pg_catalog.-) timestamp with time zone '1970-01-01 00:00:00+00'))::integer END
$$;

-- Returns the nanoseconds of a time.  Of a time out of range it returns a number below or above all
-- nanoseconds, so that the moment is before or after all values.
CREATE FUNCTION zbxhist_internal.time_ns(moment timestamptz) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN moment OPERATOR(pg_catalog.>=) timestamp with time zone '2038-01-19 03:14:08+00' THEN 2147483647
                WHEN moment OPERATOR(pg_catalog.<) timestamp with time zone '1901-12-13 20:45:52+00' THEN -2147483648
                ELSE pg_catalog.mod(1000000000 OPERATOR(pg_catalog.*) (1 OPERATOR(pg_catalog.+) pg_catalog.mod(
                         extract(epoch FROM moment OPERATOR(pg_catalog.-) timestamp with time zone '1970-01-01 00:00:00+00'), 1)),
                         1000000000)::integer END
$$;

CREATE FUNCTION zbxhist.range(
    row_type anyelement, itemid bigint, from_clock integer, to_clock integer, sort text DEFAULT 'asc',
    max_rows bigint DEFAULT NULL, from_ns integer DEFAULT 0, to_ns integer DEFAULT 0) RETURNS SETOF anyelement
LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'zbxhist_range';

COMMENT ON FUNCTION zbxhist.range(anyelement, bigint, integer, integer, text, bigint, integer, integer) IS
'Rows of an item from one moment, included, to another, excluded; sort is asc, desc or none; NULL::history names the managed table';

CREATE FUNCTION zbxhist.range(
    row_type anyelement, itemid bigint, from_time timestamptz, to_time timestamptz, sort text DEFAULT 'asc',
    max_rows bigint DEFAULT NULL) RETURNS SETOF anyelement
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT *
      FROM zbxhist.range(row_type, itemid, zbxhist_internal.time_clock(from_time), zbxhist_internal.time_clock(to_time),
                         sort, max_rows, zbxhist_internal.time_ns(from_time), zbxhist_internal.time_ns(to_time))
$$;

COMMENT ON FUNCTION zbxhist.range(anyelement, bigint, timestamptz, timestamptz, text, bigint) IS
'Rows of an item from one time, included, to another, excluded; sort is asc, desc or none; NULL::history names the managed table';

CREATE FUNCTION zbxhist.nearest(
    row_type anyelement, itemid bigint, clock integer, ns integer DEFAULT 0, which text DEFAULT 'exact')
RETURNS anyelement
LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'zbxhist_nearest';

COMMENT ON FUNCTION zbxhist.nearest(anyelement, bigint, integer, integer, text) IS
'The row of an item at a moment; if there is none, NULL (exact), the nearest before it (less) or after it (greater)';

CREATE FUNCTION zbxhist.nearest(row_type anyelement, itemid bigint, moment timestamptz, which text DEFAULT 'exact')
RETURNS anyelement
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT zbxhist.nearest(row_type, itemid, zbxhist_internal.time_clock(moment), zbxhist_internal.time_ns(moment), which)
$$;

COMMENT ON FUNCTION zbxhist.nearest(anyelement, bigint, timestamptz, text) IS
'The row of an item at a time; if there is none, NULL (exact), the nearest before it (less) or after it (greater)';

-- Clock and ns of the oldest row of an item; no row if it has none.
CREATE FUNCTION zbxhist.minimum_time(parent regclass, itemid bigint) RETURNS TABLE (clock integer, ns integer)
LANGUAGE c STABLE STRICT ROWS 1 PARALLEL SAFE AS 'MODULE_PATHNAME', 'zbxhist_minimum_time';

CREATE FUNCTION zbxhist.last_values(
    row_type anyelement, itemids bigint[], max_rows integer DEFAULT 1, since_clock integer DEFAULT NULL)
RETURNS SETOF anyelement
LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'zbxhist_last_values';

COMMENT ON FUNCTION zbxhist.last_values(anyelement, bigint[], integer, integer) IS
'Newest rows of many items, up to max_rows of each, newest first, in the order of itemid; NULL::history names the managed table';

-- As zbxhist.last_values, with nanoseconds: newest rows of many items since a moment.
CREATE FUNCTION zbxhist_internal.last_values(
    row_type anyelement, itemids bigint[], max_rows integer, since_clock integer, since_ns integer)
RETURNS SETOF anyelement
LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'zbxhist_last_values';

CREATE FUNCTION zbxhist.last_values(row_type anyelement, itemids bigint[], max_rows integer, since_time timestamptz)
RETURNS SETOF anyelement
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT *
      FROM zbxhist_internal.last_values(row_type, itemids, max_rows,
                                        zbxhist_internal.time_clock(since_time), zbxhist_internal.time_ns(since_time))
$$;

COMMENT ON FUNCTION zbxhist.last_values(anyelement, bigint[], integer, timestamptz) IS
'Newest rows of many items since a time, up to max_rows of each, newest first, in the order of itemid; NULL::history names the managed table';

CREATE FUNCTION zbxhist.statistics(parent regclass, itemid bigint, from_clock integer, to_clock integer)
RETURNS TABLE (
    count bigint, min numeric, max numeric, sum numeric, avg numeric, delta numeric, first_clock integer,
    last_clock integer)
LANGUAGE c STABLE STRICT ROWS 1 PARALLEL SAFE AS 'MODULE_PATHNAME', 'zbxhist_statistics';

COMMENT ON FUNCTION zbxhist.statistics(regclass, bigint, integer, integer) IS
'Aggregates of the values of an item from one clock, included, to another, excluded; delta is max - min; in trends, of the values behind them';

-- As zbxhist.statistics, with nanoseconds: aggregates of an item from one moment, included, to
-- another, excluded.
CREATE FUNCTION zbxhist_internal.statistics(
    parent regclass, itemid bigint, from_clock integer, to_clock integer, from_ns integer, to_ns integer)
RETURNS TABLE (
    count bigint, min numeric, max numeric, sum numeric, avg numeric, delta numeric, first_clock integer,
    last_clock integer)
LANGUAGE c STABLE STRICT ROWS 1 PARALLEL SAFE AS 'MODULE_PATHNAME', 'zbxhist_statistics';

CREATE FUNCTION zbxhist.statistics(parent regclass, itemid bigint, from_time timestamptz, to_time timestamptz)
RETURNS TABLE (
    count bigint, min numeric, max numeric, sum numeric, avg numeric, delta numeric, first_clock integer,
    last_clock integer)
LANGUAGE sql STABLE ROWS 1 PARALLEL SAFE AS $$
    SELECT *
      FROM zbxhist_internal.statistics(parent, itemid, zbxhist_internal.time_clock(from_time), zbxhist_internal.time_clock(to_time),
                                       zbxhist_internal.time_ns(from_time), zbxhist_internal.time_ns(to_time))
$$;

COMMENT ON FUNCTION zbxhist.statistics(regclass, bigint, timestamptz, timestamptz) IS
'Aggregates of the values of an item from one time, included, to another, excluded; delta is max - min; in trends, of the values behind them';

CREATE FUNCTION zbxhist.buckets(parent regclass, itemid bigint, from_clock integer, to_clock integer, buckets integer)
RETURNS TABLE (bucket integer, count bigint, avg numeric, min numeric, max numeric, clock integer)
LANGUAGE c STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'zbxhist_buckets';

COMMENT ON FUNCTION zbxhist.buckets(regclass, bigint, integer, integer, integer) IS
'What the graph of an item needs, as the query of the frontend computes it: aggregates of each bucket that has values, both clocks included';

CREATE FUNCTION zbxhist.buckets(
    parent regclass, itemid bigint, from_time timestamptz, to_time timestamptz, buckets integer)
RETURNS TABLE (bucket integer, count bigint, avg numeric, min numeric, max numeric, clock integer)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT *
      FROM zbxhist.buckets(parent, itemid, zbxhist_internal.time_clock(from_time), zbxhist_internal.time_clock(to_time), buckets)
$$;

COMMENT ON FUNCTION zbxhist.buckets(regclass, bigint, timestamptz, timestamptz, integer) IS
'What the graph of an item needs, as the query of the frontend computes it: aggregates of each bucket that has values, both seconds included';
