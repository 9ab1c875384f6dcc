-- sql/read/buckets.sql

CREATE FUNCTION zbxhist.buckets(
    parent regclass,
    itemid bigint,
    from_clock integer,
    to_clock integer,
    buckets integer)
RETURNS TABLE (
    bucket integer,
    count bigint,
    avg numeric,
    min numeric,
    max numeric,
    clock integer)
LANGUAGE c STABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'zbxhist_buckets';

COMMENT ON FUNCTION zbxhist.buckets(regclass, bigint, integer, integer, integer) IS
'What the graph of an item needs, as the query of the frontend computes it: aggregates of each bucket that has values, both clocks included';

REVOKE ALL ON FUNCTION zbxhist.buckets(regclass, bigint, integer, integer, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist.buckets(regclass, bigint, integer, integer, integer) TO PUBLIC;
