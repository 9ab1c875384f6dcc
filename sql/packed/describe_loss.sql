-- sql/packed/describe_loss.sql

CREATE FUNCTION zbxhist_internal.describe_loss(loss zbxhist.lost_values)
RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(loss.rows::text || CASE loss.rows WHEN 1 THEN ' value' ELSE ' values' END, 'values')
        || CASE
            WHEN loss.first_itemid IS NULL THEN ' of unknown items'
            WHEN loss.is_end AND loss.first_itemid = loss.last_itemid AND loss.first_clock = loss.last_clock THEN
                format(' of item %s at %s', loss.first_itemid,
                       zbxhist_internal.format_time(to_timestamp(loss.first_clock)))
            WHEN loss.is_end AND loss.first_itemid = loss.last_itemid THEN
                format(' of item %s from %s to %s', loss.first_itemid,
                       zbxhist_internal.format_time(to_timestamp(loss.first_clock)),
                       zbxhist_internal.format_time(to_timestamp(loss.last_clock)))
            WHEN loss.is_end THEN
                format(' from item %s, %s, to item %s, %s', loss.first_itemid,
                       zbxhist_internal.format_time(to_timestamp(loss.first_clock)), loss.last_itemid,
                       zbxhist_internal.format_time(to_timestamp(loss.last_clock)))
            ELSE
                format(' from item %s, %s, on', loss.first_itemid,
                       zbxhist_internal.format_time(to_timestamp(loss.first_clock)))
                || CASE WHEN loss.last_itemid < 9223372036854775807 THEN
                    format(', before item %s, %s', loss.last_itemid,
                           zbxhist_internal.format_time(to_timestamp(loss.last_clock)))
                   ELSE '' END
           END
        || ': ' || loss.problem
$$;

COMMENT ON FUNCTION zbxhist_internal.describe_loss(zbxhist.lost_values) IS
'What is lost of a packed day, in words (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.describe_loss(zbxhist.lost_values) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.describe_loss(zbxhist.lost_values) TO pg_database_owner;
