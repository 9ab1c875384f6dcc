# Whatever the session's search_path, no function of zbxhist calls somebody
# else's function, operator or type: a schema that comes first has one for each
# of PostgreSQL's names.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

my $node = test_server('search_path', autovacuum => 'off');
my $old = date(-2);

# ---- the trap ----

# A copy of each function, operator and type that says so when it is called.
my $trap = <<'SQL';
CREATE SCHEMA evil;
GRANT USAGE ON SCHEMA evil TO PUBLIC;
SET check_function_bodies = off;
DO $do$
DECLARE
    body CONSTANT text := 'LANGUAGE plpgsql SET search_path = pg_catalog AS $b$ BEGIN RAISE WARNING ''TRAPPED %s''; %s END $b$';
    item record;
BEGIN
    FOR item IN
        SELECT p.proname, p.prorettype::regtype AS result, p.pronargs,
               (SELECT coalesce(string_agg(t::regtype::text, ',' ORDER BY n), '') FROM unnest(p.proargtypes::oid[]) WITH ORDINALITY a (t, n)) AS types,
               (SELECT coalesce(string_agg('$' || n, ','), '') FROM generate_series(1, p.pronargs) n) AS arguments
          FROM pg_proc p
         WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind = 'f' AND NOT p.proretset AND p.provariadic = 0
           AND p.proargmodes IS NULL
           AND NOT EXISTS (SELECT FROM pg_type t WHERE t.oid = ANY (p.proargtypes::oid[] || p.prorettype)
                              AND t.typtype = 'p' AND t.typname NOT IN ('void', 'anyelement', 'anyarray', 'anynonarray'))
    LOOP
        BEGIN
            EXECUTE format('CREATE FUNCTION evil.%I(%s) RETURNS %s ', item.proname, item.types, item.result)
                || format(body, item.proname, CASE item.result WHEN 'void'::regtype THEN 'PERFORM' ELSE 'RETURN' END
                                              || format(' pg_catalog.%I(%s);', item.proname, item.arguments));
        EXCEPTION WHEN invalid_function_definition OR feature_not_supported THEN
            -- what PL/pgSQL cannot have, such as arguments of type void
        END;
    END LOOP;
    FOR item IN
        SELECT o.oid, o.oprname, nullif(o.oprleft, 0)::regtype AS lefttype, o.oprright::regtype AS righttype, o.oprresult::regtype AS result
          FROM pg_operator o
         WHERE o.oprnamespace = 'pg_catalog'::regnamespace AND o.oprcode <> 0
           AND NOT EXISTS (SELECT FROM pg_type t WHERE t.oid IN (o.oprleft, o.oprright, o.oprresult) AND t.typtype = 'p')
    LOOP
        EXECUTE format('CREATE FUNCTION evil.operator_%s(%s) RETURNS %s ', item.oid,
                       concat_ws(',', item.lefttype, item.righttype), item.result)
            || format(body, replace(item.oprname, '%', '%%'),
                      format('RETURN %s OPERATOR(pg_catalog.%s) $%s;', CASE WHEN item.lefttype IS NULL THEN '' ELSE '$1' END,
                             item.oprname, CASE WHEN item.lefttype IS NULL THEN 1 ELSE 2 END));
        EXECUTE format('CREATE OPERATOR evil.%s (FUNCTION = evil.operator_%s, %s RIGHTARG = %s)', item.oprname, item.oid,
                       'LEFTARG = ' || item.lefttype || ',', item.righttype);
    END LOOP;
    FOR item IN SELECT t.typname FROM pg_type t
                 WHERE t.typnamespace = 'pg_catalog'::regnamespace AND t.typtype = 'b' AND t.typcategory <> 'A'
    LOOP
        EXECUTE format('CREATE TYPE evil.%I AS (trapped integer)', item.typname);
    END LOOP;
END $do$;
CREATE FUNCTION evil.more(bigint) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'TRAPPED count'; RETURN $1; END $$;
CREATE AGGREGATE evil.count(*) (SFUNC = evil.more, STYPE = pg_catalog.int8, INITCOND = '0');
CREATE FUNCTION evil.other(bigint, bigint) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'TRAPPED aggregate'; RETURN $2; END $$;
SQL
$trap .= "CREATE AGGREGATE evil.$_(bigint) (SFUNC = evil.other, STYPE = pg_catalog.int8);\n"
  for qw(max min sum);

$node->safe_psql('postgres', 'CREATE DATABASE trapped');
$node->safe_psql('trapped', $trap);

# The statement's messages, in a session that looks there first.
sub messages_of
{
	my ($statement) = @_;
	my (undef, undef, $messages) =
	  psql_script($node, 'trapped', "SET search_path = evil, pg_catalog, public;\n$statement;\n");

	return $messages;
}

sub is_safe
{
	my ($statement) = @_;
	my $messages = messages_of($statement);

	unlike($messages, qr/TRAPPED|ERROR/, $statement =~ s/\s+/ /gr);
}

like(messages_of("SELECT $_->[0]"), qr/TRAPPED \Q$_->[1]/, "the trap: $_->[1]")
  for [ 'pg_catalog.int8 \'1\' + 1::pg_catalog.int8', '+' ],
  [ 'clock_timestamp()', 'clock_timestamp' ], [ 'count(*)', 'count' ];
like(messages_of("SELECT 'x'::text"), qr/malformed record/, 'the trap: text');

# ---- everything that is called ----

is_safe($_) for 'CREATE EXTENSION zbxhist', 'CREATE EXTENSION zbxhist_migrate';
create_zabbix_tables($node, 'trapped', 'postgres');
$node->safe_psql('trapped', <<"SQL");
DROP TABLE history_log;
CREATE TABLE history_log (LIKE history_text INCLUDING ALL) PARTITION BY RANGE (clock);
CREATE TABLE history_log_1 PARTITION OF history_log FOR VALUES FROM (${\ day(-1)}) TO (${\ day(3)});
CREATE TABLE history_old (LIKE history INCLUDING ALL);
INSERT INTO history (itemid, clock, value) SELECT i, ${\ day(0)} - 3600 * h, h FROM generate_series(1, 5) i, generate_series(1, 90) h;
INSERT INTO history_old (itemid, clock, value, ns) SELECT itemid, clock, value, 1 FROM history;
SQL

is_safe($_)
  for (
	"CALL zbxhist.adopt_partitions('history_log', dry_run => true)",
	"CALL zbxhist.adopt_partitions('history_log')",
	"SELECT * FROM zbxhist.setup('public', '30 days', '1 year', dry_run => true)",
	"SELECT * FROM zbxhist.setup('public', '30 days', '1 year', move_existing => true)",
	'CALL zbxhist.run_maintenance()',
	'CALL zbxhist.run_maintenance()',
	"CALL zbxhist.import('history_old', 'history', dry_run => true)",
	"CALL zbxhist.import('history_old', 'history', 1000000)",
	"CALL zbxhist.compact('history', '$old')",
	"INSERT INTO history VALUES (9, ${\ (day(-2) + 7)}, 1, 1), (9, ${\ day(0)}, 1, 1)",
	'CALL zbxhist.run_maintenance()',
	"CALL zbxhist.repack('history', '$old')",
	"SELECT * FROM zbxhist.verify('history')",
	"CALL zbxhist.unpack('history', '$old')",
	"CALL zbxhist.pack('history', '$old')",
	"CALL zbxhist.salvage('zbxhist_packed.${\ partition('history', -3)}')",
	"ALTER TABLE history ALTER value TYPE pg_catalog.numeric, ADD COLUMN note pg_catalog.text DEFAULT 'x'",
	"UPDATE history SET value = 7 WHERE itemid OPERATOR(pg_catalog.=) 2",
	"DELETE FROM history WHERE itemid OPERATOR(pg_catalog.=) 3",
	'CALL zbxhist.run_maintenance()',
	"SELECT * FROM zbxhist.item_usage('history', max_items => 1)",
	"SELECT * FROM zbxhist.item_usage('history', pg_catalog.now())",
	"SELECT * FROM zbxhist.range(NULL::history, 1, ${\ day(-3)}, ${\ day(0)})",
	"SELECT * FROM zbxhist.range(NULL::history, 1, pg_catalog.now(), pg_catalog.now())",
	"SELECT * FROM zbxhist.last_values(NULL::history, ARRAY[1, 2]::pg_catalog.int8[])",
	"SELECT * FROM zbxhist.statistics('history', 1, 0, ${\ day(0)})",
	"SELECT * FROM zbxhist.buckets('history', 1, 0, ${\ day(0)}, 3600)",
	"SELECT * FROM zbxhist.nearest(NULL::history, 1, ${\ day(0)})",
	(   map { "SELECT * FROM zbxhist.$_" }
		  qw(check() metrics() preview() insert_paths() parents status partitions
		  partitions_by_day progress maintenance_log)),
	"SELECT zbxhist.delete_item(5)",
	"SELECT zbxhist.delete_values('history', 4, 0, 0, 'greater')",
	"SELECT zbxhist.alter_parent('history', retention => '40 days')",
	"SELECT zbxhist.create_parent('history_old')",
	"SELECT zbxhist.create_partition('history', '${\ date(-20)}')",
	"CALL zbxhist.undo('history')",
	'SET zbxhist.allow_packed_drop = on; DROP EXTENSION zbxhist CASCADE');

$node->stop;

done_testing();
