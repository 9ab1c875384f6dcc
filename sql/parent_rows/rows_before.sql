-- sql/parent_rows/rows_before.sql
--
-- A large parent is not read for this: its share is taken from the statistics
-- of the column.  Of one that the caller may not read nothing is known.

CREATE FUNCTION zbxhist_internal.rows_before(
    parent regclass,
    cutoff bigint,
    OUT rows bigint,
    OUT oldest bigint)
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    bounds bigint[];
BEGIN
    rows := 0;
    IF zbxhist_internal.own_pages(parent) = 0 OR NOT has_table_privilege(parent, 'SELECT')
       OR row_security_active(parent) THEN
        RETURN;
    END IF;
    oldest := zbxhist_internal.waiting_clock(parent, -2147483648, cutoff, false);
    IF oldest IS NULL THEN
        RETURN;
    END IF;
    rows := zbxhist_internal.count_waiting(parent, -2147483648, cutoff);
    IF rows IS NOT NULL THEN
        RETURN;
    END IF;
    SELECT s.histogram_bounds::text::bigint[] INTO bounds
      FROM pg_stats s
      JOIN pg_namespace n ON n.nspname = s.schemaname
      JOIN pg_class k ON k.relnamespace = n.oid AND k.relname = s.tablename
     WHERE k.oid = rows_before.parent AND s.attname = 'clock' AND NOT s.inherited;
    rows := greatest(1, zbxhist_internal.probable_rows(parent)
                        * coalesce(width_bucket(cutoff, bounds)::numeric / cardinality(bounds), 1));
END
$$;

COMMENT ON FUNCTION zbxhist_internal.rows_before(regclass, bigint) IS
'About how many rows of a table itself are older than a clock, and the oldest of these (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.rows_before(regclass, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.rows_before(regclass, bigint) TO PUBLIC;
