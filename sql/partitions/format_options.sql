-- sql/partitions/format_options.sql

CREATE FUNCTION zbxhist_internal.format_options(options text[], prefix text DEFAULT '')
RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT string_agg(format('%s%I=%L', prefix, split_part(o, '=', 1),
                             substr(o, strpos(o, '=') + 1)), ', ' ORDER BY n)
      FROM unnest(options) WITH ORDINALITY AS u (o, n)
$$;

COMMENT ON FUNCTION zbxhist_internal.format_options(text[], text) IS
'Storage settings as pg_class holds them, written for WITH (...) or SET (...) (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.format_options(text[], text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.format_options(text[], text) TO PUBLIC;
