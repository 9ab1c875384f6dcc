-- sql/partitions/free_name.sql

CREATE FUNCTION zbxhist_internal.free_name(schema regnamespace, stem text, ending text DEFAULT '')
RETURNS name
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    tail    text := ending;
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
        tail := ending || '_' || attempt;
    END LOOP;
    RETURN (stem || tail)::name;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.free_name(regnamespace, text, text) IS
'A name that is free in a schema, for a relation and its row type: as much of a stem as there is room for, an ending, and a number after it if need be (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.free_name(regnamespace, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.free_name(regnamespace, text, text) TO PUBLIC;
