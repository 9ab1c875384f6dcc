-- sql/packed/compacted_name.sql
--
-- history_p20261120_0000, or the name of its index, becomes history_p20261120 if
-- a day is all in it now.

CREATE FUNCTION zbxhist_internal.compacted_name(old_name name, from_clock bigint, to_clock bigint)
RETURNS name
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN to_clock - from_clock = 86400
                 AND to_regclass(format('zbxhist_packed.%I', n.day_name)) IS NULL
                 AND to_regtype(format('zbxhist_packed.%I', n.day_name)) IS NULL
                THEN n.day_name ELSE old_name END
      FROM (SELECT regexp_replace(old_name, '(_p\d{8})_\d{4}(_pkey)?$', '\1\2')::name AS day_name) n
$$;

COMMENT ON FUNCTION zbxhist_internal.compacted_name(name, bigint, bigint) IS
'The name that the table of a packed day, or its index, has when it covers a range (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.compacted_name(name, bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.compacted_name(name, bigint, bigint) TO PUBLIC;
