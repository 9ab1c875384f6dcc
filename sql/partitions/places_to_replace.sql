-- sql/partitions/places_to_replace.sql
--
-- Those to come, as long as nothing has ever been stored in them.

CREATE FUNCTION zbxhist_internal.places_to_replace(parent regclass)
RETURNS SETOF regclass
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    policy     CONSTANT zbxhist.parent_config := (
        SELECT c FROM zbxhist.parent_config c WHERE c.parent = places_to_replace.parent);
    wants_runs CONSTANT boolean := zbxhist_internal.takes_runs(parent);
BEGIN
    IF NOT policy.routing THEN
        RETURN;
    END IF;
    RETURN QUERY
        SELECT r.relation
          FROM zbxhist_internal.list_ranges(parent) r
          LEFT JOIN zbxhist.packed_day d ON d.day = r.relation
         WHERE r.from_clock > zbxhist_internal.current_clock()
           AND r.to_clock - r.from_clock <= extract(epoch FROM policy.partition_interval)
           AND (NOT r.is_packed AND wants_runs OR d.runs AND NOT wants_runs)
           AND NOT EXISTS (SELECT FROM zbxhist.packed_day u
                            WHERE u.partition = r.relation OR u.day = r.relation AND u.partition IS NOT NULL)
           AND zbxhist_internal.own_pages(r.relation) = 0
           AND zbxhist_internal.dependent_object(r.relation) IS NULL
           AND r.relation NOT IN (SELECT zbxhist_internal.foreign_children(places_to_replace.parent))
         ORDER BY r.from_clock;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.places_to_replace(regclass) IS
'Partitions to come that are to be replaced by tables of runs, or the other way round (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.places_to_replace(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.places_to_replace(regclass) TO PUBLIC;
