-- sql/migrate/describe_adoption.sql

CREATE FUNCTION zbxhist_internal.describe_adoption(native regclass)
RETURNS SETOF text
LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT format('would take over %s partitions of table %s, %s, as they are; %s of them get the constraint zbxhist_clock first',
                  count(*), native, pg_size_pretty(sum(pg_total_relation_size(p.partition))),
                  count(*) FILTER (WHERE NOT p.is_bounded))
      FROM zbxhist_internal.native_partitions(native) p WHERE NOT p.is_default
     UNION ALL
    SELECT CASE WHEN zbxhist_internal.has_own_rows(p.partition, NULL)
                THEN format('would make the default partition %s, with about %s rows, the table itself; maintenance moves them to partitions',
                            p.partition, zbxhist_internal.probable_rows(p.partition))
                ELSE format('would drop the default partition %s, which is empty', p.partition) END
      FROM zbxhist_internal.native_partitions(native) p WHERE p.is_default
     UNION ALL
    SELECT format('would take the table out of %s%s', e.config,
                  CASE WHEN zbxhist_internal.is_partman_template(e.config, e.template, e.key)
                       THEN format(' and drop %s', e.template) ELSE '' END)
      FROM zbxhist_internal.partman_entry(native) e WHERE e.config IS NOT NULL
     UNION ALL
    SELECT format('policy: %s', zbxhist_internal.describe_planned_policy(zbxhist_internal.adoption_policy(native), false))
$$;

COMMENT ON FUNCTION zbxhist_internal.describe_adoption(regclass) IS
'What adopt_partitions would do, a line each (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.describe_adoption(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.describe_adoption(regclass) TO pg_database_owner;
