-- sql/packed/salvage_day.sql
--
-- Of many losses the first are printed and logged; all are in lost_values.

CREATE FUNCTION zbxhist_internal.salvage_day(parent regclass, day regclass, partition regclass)
RETURNS bigint
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    label    CONSTANT text := day::text;
    expected CONSTANT bigint := (
        SELECT d.nrows - coalesce((SELECT sum(c.removed) FROM zbxhist.packed_change c
                                    WHERE c.day = d.day), 0)
          FROM zbxhist.packed_day d WHERE d.day = salvage_day.day);
    found    record;
    loss     zbxhist.lost_values;
    losses   integer := 0;
    lost     bigint := 0;
    kept     bigint;
BEGIN
    FOR found IN SELECT * FROM zbxhist_internal.salvage_rows(day, partition) LOOP
        IF found.problem IS NULL THEN
            kept := found.rows;
            CONTINUE;
        END IF;
        INSERT INTO zbxhist.lost_values AS l
            (parent, day, first_itemid, first_clock, last_itemid, last_clock, is_end, rows, problem, bytes)
        VALUES (parent, label, found.first_itemid, found.first_clock, found.last_itemid,
                found.last_clock, found.is_end, found.rows, found.problem, found.bytes)
        RETURNING l.* INTO loss;
        losses := losses + 1;
        lost := lost + coalesce(found.rows, 0);
        IF losses <= 1000 THEN
            PERFORM zbxhist_internal.log_action(parent, 'lost', label, found.rows, NULL,
                clock_timestamp(), NULL, NULL, zbxhist_internal.describe_loss(loss));
        END IF;
        IF losses <= 20 THEN
            RAISE WARNING 'lost: %', zbxhist_internal.describe_loss(loss);
        END IF;
    END LOOP;
    lost := greatest(lost, expected - kept);
    IF losses = 0 AND lost = 0 THEN
        RAISE NOTICE 'all % values of packed day % can be read', kept, label;
    ELSE
        RAISE WARNING '% values of packed day % are kept, % are lost', kept, label, lost
            USING DETAIL = format('%s.  The bytes in which they were are kept.',
                                  CASE losses WHEN 1 THEN '1 loss' ELSE losses || ' losses' END),
                  HINT = format('SELECT * FROM zbxhist.lost_values WHERE day = %L;', label);
    END IF;
    RETURN kept;
END
$$;

COMMENT ON FUNCTION zbxhist_internal.salvage_day(regclass, regclass, regclass) IS
'Moves all rows of a packed day that can be read into a partition, tells what is lost, and returns their number (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.salvage_day(regclass, regclass, regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.salvage_day(regclass, regclass, regclass) TO pg_database_owner;
