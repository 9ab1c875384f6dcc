-- sql/packed/not_packable.sql

CREATE FUNCTION zbxhist_internal.not_packable(parent regclass, partition regclass)
RETURNS text
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    problem text := zbxhist_internal.why_not_packable(parent);
BEGIN
    IF problem IS NOT NULL THEN
        RETURN problem;
    END IF;
    problem := zbxhist_internal.own_column(parent, partition);
    IF problem IS NOT NULL THEN
        RETURN format('partition %s has a column "%s" that table %s has not', partition, problem, parent);
    END IF;
    SELECT format('packed days have another column under the name of "%s"', a.attname)
      INTO problem
      FROM pg_attribute a
      JOIN zbxhist_internal.packed_columns(zbxhist_internal.packed_table(parent)) c
           ON c.packed_name = a.attname AND c.column_name <> a.attname
     WHERE a.attrelid = parent AND a.attnum > 0 AND NOT a.attisdropped
       AND a.attname NOT IN (SELECT o.column_name
                               FROM zbxhist_internal.packed_columns(zbxhist_internal.packed_table(parent)) o)
     LIMIT 1;
    IF FOUND THEN
        RETURN problem;
    END IF;
    -- of the parent itself it is asked for what is yet to be made
    problem := CASE WHEN partition <> parent THEN zbxhist_internal.dependent_object(partition) END;
    IF problem IS NOT NULL THEN
        RETURN format('%s depends on partition %s', problem, partition);
    END IF;
    -- only these keys are looked up in packed days
    SELECT format('unique index "%s" is not one on itemid, clock%s alone', k.relname,
                  CASE WHEN c.columns = '{clock,itemid}' THEN '' ELSE ' and ns' END)
      INTO problem
      FROM pg_index x
      JOIN pg_class k ON k.oid = x.indexrelid
     CROSS JOIN LATERAL (
           SELECT array_agg(a.attname ORDER BY a.attname) AS columns
             FROM pg_attribute a
            WHERE a.attrelid = x.indrelid AND a.attname IN ('itemid', 'clock', 'ns')) c
     WHERE x.indrelid = not_packable.parent AND (x.indisunique OR x.indisexclusion)
       AND (x.indpred IS NOT NULL OR x.indexprs IS NOT NULL OR NOT x.indimmediate OR x.indisexclusion
            OR c.columns IS DISTINCT FROM
               ARRAY(SELECT a.attname FROM unnest(x.indkey[0:x.indnkeyatts - 1]) i (attnum)
                       JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = i.attnum
                      ORDER BY a.attname))
     LIMIT 1;
    IF FOUND THEN
        RETURN problem;
    END IF;
    -- what was found out when it was tried
    RETURN (SELECT s.not_packable FROM zbxhist.partition_state s
             WHERE s.partition = not_packable.partition);
END
$$;

COMMENT ON FUNCTION zbxhist_internal.not_packable(regclass, regclass) IS
'Why a partition cannot be packed; NULL if it can (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.not_packable(regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.not_packable(regclass, regclass) TO PUBLIC;
