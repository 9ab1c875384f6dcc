-- sql/check/harmless_days.sql
--
-- As long as Zabbix keeps values if nobody says otherwise: 31 days of history,
-- 365 of trends; or longer, if there are older ones.

CREATE FUNCTION zbxhist_internal.harmless_days(parent regclass)
RETURNS bigint
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    oldest bigint;
BEGIN
    oldest := (zbxhist_internal.deletion(parent, interval '0')).oldest;
    RETURN greatest(
        CASE WHEN (SELECT k.relname FROM pg_class k WHERE k.oid = parent) LIKE 'history%' THEN 31 ELSE 365 END,
        ceil((extract(epoch FROM clock_timestamp()) - oldest) / 86400) + 1);
END
$$;

COMMENT ON FUNCTION zbxhist_internal.harmless_days(regclass) IS
'A retention in days by which nothing of a table would be deleted now (internal)';

REVOKE ALL ON FUNCTION zbxhist_internal.harmless_days(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION zbxhist_internal.harmless_days(regclass) TO PUBLIC;
