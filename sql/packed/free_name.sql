-- sql/packed/free_name.sql

CREATE FUNCTION zbxhist_internal.free_name(stem text)
RETURNS name
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    schema  CONSTANT oid := 'zbxhist_packed'::regnamespace;
    tail    text := '';
    attempt integer := 0;
BEGIN
    LOOP
        WHILE octet_length(stem) + octet_length(tail) > 63 LOOP
            stem := left(stem, -1);
        END LOOP;
        EXIT WHEN NOT EXISTS (SELECT FROM pg_class k
                               WHERE k.relnamespace = schema AND k.relname = (stem || tail)::name)
              AND NOT EXISTS (SELECT FROM pg_type t
                               WHERE t.typnamespace = schema AND t.typname = (stem || tail)::name);
        attempt := attempt + 1;
        tail := '_' || attempt;
    END LOOP;
    RETURN (stem || tail)::name;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.free_name(text) IS
'A name that is free in schema zbxhist_packed: this one, or with a number after it (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.free_name(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.free_name(text) TO PUBLIC;
