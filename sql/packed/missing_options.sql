-- sql/packed/missing_options.sql
--
-- What a column contains that has been added since a day was packed is known to
-- the parent only until it is rewritten.  The settings make a text that means
-- the same to every session.

CREATE FUNCTION zbxhist_internal.missing_options(parent regclass, packed regclass)
RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD'
SET intervalstyle = 'iso_8601'
SET extra_float_digits = 1
AS $$
    SELECT format('ALTER FOREIGN TABLE %s ', packed)
           || string_agg(format('ALTER COLUMN %I OPTIONS (ADD missing %L)', a.attname,
                                (a.attmissingval::text::text[])[1]), ', ')
      FROM pg_attribute a
      JOIN pg_attribute f ON f.attrelid = packed AND f.attname = a.attname
                         AND f.attnum > 0 AND NOT f.attisdropped
     WHERE a.attrelid = parent AND a.attnum > 0 AND NOT a.attisdropped AND a.atthasmissing
       AND NOT EXISTS (SELECT FROM unnest(f.attfdwoptions) o WHERE starts_with(o, 'missing='))
$$;

COMMENT ON FUNCTION zbxhist_internal.missing_options(regclass, regclass) IS
'The command that notes what new columns of a table contain in packed rows; NULL if nothing is to be noted (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.missing_options(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.missing_options(regclass, regclass) TO PUBLIC;
