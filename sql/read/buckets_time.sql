-- sql/read/buckets_time.sql

CREATE FUNCTION zbxhist.buckets(
    parent regclass,
    itemid bigint,
    from_time timestamptz,
    to_time timestamptz,
    buckets integer)
RETURNS TABLE (
    bucket integer,
    count bigint,
    avg numeric,
    min numeric,
    max numeric,
    clock integer)
LANGUAGE c STABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'zbxhist_buckets_time';

COMMENT ON FUNCTION zbxhist.buckets(regclass, bigint, timestamptz, timestamptz, integer) IS
'What the graph of an item needs, as the query of the frontend computes it: aggregates of each bucket that has values, both seconds included';

REVOKE ALL ON FUNCTION zbxhist.buckets(regclass, bigint, timestamptz, timestamptz, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.buckets(regclass, bigint, timestamptz, timestamptz, integer) TO PUBLIC;
