-- sql/packed/compact_by_hand.sql

CREATE FUNCTION zbxhist_internal.compact_by_hand(parent regclass, day regclass)
RETURNS text
LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce((SELECT zbxhist_internal.rewrite_days(parent, 'compact', c.days)
                       FROM zbxhist_internal.compactable_days(parent, true) c
                      WHERE c.days[1] = day), 'done')
$$;

COMMENT ON FUNCTION zbxhist_internal.compact_by_hand(regclass, regclass) IS
'Makes a packed day and those that follow it one, or does what has to be done before: more, call again; wait, call again later (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.compact_by_hand(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.compact_by_hand(regclass, regclass) TO pg_database_owner;
