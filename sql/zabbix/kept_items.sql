-- sql/zabbix/kept_items.sql
--
-- Where anything is in doubt, all are kept.  Items are read when the partition is
-- closed already: of an item made later it has no values.

CREATE FUNCTION zbxhist_internal.kept_items(parent regclass, OUT items bigint[], OUT problem text)
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    items := '{}';
    IF EXISTS (SELECT FROM zbxhist.parent_config c
                WHERE c.parent = kept_items.parent AND c.deleted_items = 'drop') THEN
        SELECT k.items, k.problem INTO items, problem FROM zbxhist_internal.known_items(parent) k;
    END IF;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.kept_items(regclass) IS
'The items whose values stay when days of a table are packed or written anew; none: all do, by the policy or for a problem (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.kept_items(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.kept_items(regclass) TO PUBLIC;
