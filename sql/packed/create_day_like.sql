-- sql/packed/create_day_like.sql
--
-- It has the columns with which the day was packed, whatever those of the
-- parent are now, and is stored where and as the day is, but for what tables of
-- runs have for themselves.  Constraints that its owner may have given to the day
-- are not evaluated by somebody else.

CREATE FUNCTION zbxhist_internal.create_day_like(
    parent regclass,
    day regclass,
    from_clock bigint,
    to_clock bigint)
RETURNS regclass
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET default_tablespace = ''
SET client_min_messages = warning
SET max_parallel_maintenance_workers = 0
AS $$
DECLARE
    new_name CONSTANT name := zbxhist_internal.day_name(day);
    source   record;
    result   regclass;
BEGIN
    SELECT k.relpersistence, t.spcname, p.spcname AS index_spcname,
           CASE WHEN i.indisprimary THEN k.reloptions
                ELSE ARRAY(SELECT o FROM unnest(k.reloptions) o WHERE NOT starts_with(o, 'autovacuum_')) END AS reloptions,
           CASE WHEN i.indisprimary THEN x.reloptions ELSE '{fillfactor=100}' END AS index_options
      INTO STRICT source
      FROM pg_class k
      LEFT JOIN pg_tablespace t ON t.oid = k.reltablespace
      LEFT JOIN LATERAL (SELECT * FROM pg_index o WHERE o.indrelid = k.oid
                          ORDER BY o.indisprimary DESC LIMIT 1) i ON true
      LEFT JOIN pg_class x ON x.oid = i.indexrelid
      LEFT JOIN pg_tablespace p ON p.oid = x.reltablespace
     WHERE k.oid = create_day_like.day;
    EXECUTE concat_ws(' ',
        'CREATE', CASE WHEN source.relpersistence = 'u' THEN 'UNLOGGED' END,
        format('TABLE zbxhist_packed.%I (LIKE %s INCLUDING COMMENTS INCLUDING COMPRESSION INCLUDING STORAGE,',
               new_name, day),
        'PRIMARY KEY (first_itemid, first_clock)',
        'WITH (' || zbxhist_internal.format_options(source.index_options) || ')',
        'USING INDEX TABLESPACE ' || quote_ident(source.index_spcname), ',',
        zbxhist_internal.day_constraint(from_clock, to_clock), ')',
        'WITH (' || zbxhist_internal.format_options(source.reloptions) || ')',
        'TABLESPACE ' || quote_ident(source.spcname));
    result := format('zbxhist_packed.%I', new_name)::regclass;
    PERFORM zbxhist_internal.own_alone(result, k.relowner) FROM pg_class k WHERE k.oid = parent;
    RETURN result;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.create_day_like(regclass, regclass, bigint, bigint) IS
'Creates an empty table that can take the place of that of a packed day, or of several that cover a range (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.create_day_like(regclass, regclass, bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.create_day_like(regclass, regclass, bigint, bigint) TO pg_database_owner;
