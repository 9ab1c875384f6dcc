-- sql/packed/day_name.sql

CREATE FUNCTION zbxhist_internal.day_name(partition regclass)
RETURNS name
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    stem    text := (SELECT k.relname FROM pg_class k WHERE k.oid = partition);
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

COMMENT ON FUNCTION zbxhist_internal.day_name(regclass) IS
'A free name in schema zbxhist_packed for the table of a partition that is packed (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.day_name(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.day_name(regclass) TO PUBLIC;
