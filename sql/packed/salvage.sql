-- sql/packed/salvage.sql

-- Moves all readable rows of a packed day into a partition; returns a row for each loss, and one without a
-- problem that has the number of rows kept.
CREATE FUNCTION zbxhist_internal.salvage_rows(day regclass, partition regclass)
RETURNS TABLE (
    first_itemid bigint, first_clock integer, last_itemid bigint, last_clock integer, is_end boolean, rows bigint,
    problem text, bytes bytea)
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'zbxhist_salvage_rows';

-- Describes a loss in words.
CREATE FUNCTION zbxhist_internal.describe_loss(loss zbxhist.lost_values) RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(loss.rows::text || CASE loss.rows WHEN 1 THEN ' value' ELSE ' values' END, 'values')
        || CASE WHEN loss.first_itemid IS NULL THEN ' of unknown items'
                WHEN loss.is_end AND loss.first_itemid = loss.last_itemid AND loss.first_clock = loss.last_clock
                THEN format(' of item %s at %s', loss.first_itemid, t.first)
                WHEN loss.is_end AND loss.first_itemid = loss.last_itemid
                THEN format(' of item %s from %s to %s', loss.first_itemid, t.first, t.last)
                WHEN loss.is_end
                THEN format(' from item %s, %s, to item %s, %s', loss.first_itemid, t.first, loss.last_itemid, t.last)
                ELSE format(' from item %s, %s, on', loss.first_itemid, t.first)
                     || CASE WHEN loss.last_itemid < 9223372036854775807
                             THEN format(', before item %s, %s', loss.last_itemid, t.last) ELSE '' END END
        || ': ' || loss.problem
      FROM (SELECT zbxhist_internal.format_time(to_timestamp(loss.first_clock)) AS first,
                   zbxhist_internal.format_time(to_timestamp(loss.last_clock)) AS last) t
$$;

-- Raises an error if a packed day is archived on a server that has no groups at all of the table's
-- archived days: then it is probably the wrong server, and salvage would report all values as lost.
CREATE FUNCTION zbxhist_internal.verify_archive_server(day regclass) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    -- groups of other days of the table are enough: those of this one may be lost
    PERFORM zbxhist_internal.refuse('55000', format('server "%s" has none of the days that were archived there', c.server),
                detail => 'It may be another server, or another database.',
                hint => 'Correct its options with ALTER SERVER, or restore its backup.  If there is none, drop the days with zbxhist.drop_day().')
       FROM zbxhist.packed_day d
       JOIN zbxhist.archive_copy c ON c.copy = d.archive_copy
       JOIN pg_class k ON k.oid = c.groups
      WHERE d.day = verify_archive_server.day
        AND NOT zbxhist_internal.execute_as_owner(c.groups, format(
                    'SELECT EXISTS (SELECT FROM %s WHERE copy = ANY (%L::uuid[]))', c.groups,
                    ARRAY(SELECT o.copy FROM zbxhist.archive_copy o WHERE o.groups = c.groups AND o.state = 'archived')))::boolean;
END
$$;

-- Moves all readable rows of a packed day into a partition, reports losses, and returns the number of rows
-- kept.
-- It prints the first 20 losses and logs the first 1000; all are in lost_values.
CREATE FUNCTION zbxhist_internal.salvage_day(parent regclass, day regclass, partition regclass) RETURNS bigint
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
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
            PERFORM zbxhist_internal.log_action(parent, 'lost', label, rows => found.rows,
                message => zbxhist_internal.describe_loss(loss), started_at => clock_timestamp());
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
            USING DETAIL = format('%s.  The bytes that held them are kept.',
                                  CASE losses WHEN 1 THEN '1 loss' ELSE losses || ' losses' END),
                  HINT = format('SELECT * FROM zbxhist.lost_values WHERE day = %L;', label);
    END IF;
    RETURN kept;
END
$$;

-- Turns the readable rows of a damaged packed day, given by its table, into an ordinary partition, and says
-- what is lost; can be interrupted and repeated.
CREATE PROCEDURE zbxhist.salvage(day regclass)
LANGUAGE plpgsql AS $$
DECLARE
    parent pg_catalog.regclass;
BEGIN
    CALL zbxhist_internal.next_transaction();
    SELECT d.parent INTO parent FROM zbxhist.packed_day d WHERE d.day = salvage.day;
    IF NOT FOUND THEN
        PERFORM zbxhist_internal.refuse('55000', format('%s is not the table of a packed day', day),
            hint => 'SELECT * FROM zbxhist.partitions WHERE kind = ''packed'';');
    END IF;
    CALL zbxhist_internal.repeat_by_hand(parent, 'salvage', ARRAY[day]);
END
$$;
