# scripts/compare: what it says of a database is true, exactly where that is
# possible, and its forecast of packed sizes is what packing gives.  It changes
# nothing and scans no table, accepts unusual names, and works on a standby, on
# a managed database and with few rights.  scripts/report later shows the
# forecast.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use JSON::PP ();
use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

my $directory = PostgreSQL::Test::Utils::tempdir();
my $scripts = "$FindBin::RealBin/../../scripts";
my $node =
  test_server('compare', autovacuum => 'off', shared_preload_libraries => 'pg_stat_statements');
my $real_psql = $node->config_data('--bindir') . '/psql';

# a name that could be taken for something else
my $odd = qq{o'dd "x"\\ host=nowhere};
my $odd_sql = '"' . $odd =~ s/"/""/gr . '"';

# Runs a script on the server; exit code, output, errors.
sub run_script
{
	my ($script, @arguments) = @_;
	my ($out, $err) = ('', '');

	local %ENV = (%ENV, PGHOST => $node->host, PGPORT => $node->port);
	IPC::Run::run([ "$scripts/$script", @arguments ], '>', \$out, '2>', \$err);
	return ($? >> 8, $out, $err);
}

# The shortest time to watch.
sub compare { return run_script('compare', '--minutes', '0.001', @_); }

# What it finds, as data; dies if it finds nothing.
sub found
{
	my ($status, $out, $err) = compare(@_, '--output', "$directory/found.json");

	die "compare: $err" if $status != 0;
	my $found = JSON::PP->new->utf8->decode(slurp_file("$directory/found.json"));
	$found->{table} = { map { $_->{table} => $_ } @{ $found->{tables} } };
	$found->{text} = $out;
	return $found;
}

# The same while something is inserted: psql is a program that does so before the
# counters are read for the second time.
sub found_while
{
	my ($database, $sql, @options) = @_;
	my $programs = "$directory/programs";

	mkdir $programs;
	unlink "$directory/looked";
	append_to_file("$directory/inserts.sql", $sql);
	make_program($programs, 'psql', <<"SH");
cat >"$directory/asked"
if grep -q pg_stat_get_tuples_inserted "$directory/asked" && grep -q clock_timestamp "$directory/asked"; then
	if [ -e "$directory/looked" ]; then
		env -u PGOPTIONS PGUSER=${\ superuser()} "$real_psql" -X -q -v ON_ERROR_STOP=1 -f "$directory/inserts.sql" >/dev/null || exit 3
	fi
	touch "$directory/looked"
fi
exec "$real_psql" "\$@" <"$directory/asked"
SH
	local %ENV = (%ENV, PATH => "$programs:$ENV{PATH}");
	my $result = found('--database', $database, @options);
	unlink "$directory/inserts.sql";
	return $result;
}

sub superuser
{
	return $node->safe_psql('postgres', 'SELECT current_user');
}

sub value_of { return $node->safe_psql(@_); }

# A value lies in a range.
sub is_between
{
	my ($value, $range, $name) = @_;

	ok($range->[0] <= $value && $value <= $range->[1], $name) or diag("$value is not in @$range");
}

# ---- what is refused ----

for my $wrong (
	[],
	['--what'],
	[ '--database', 'postgres', '--minutes', '0' ],
	[ '--database', 'postgres', '--minutes', '31' ],
	[ '--database', 'postgres', '--minutes', 'nan' ],
	[ '--database', 'postgres', '--port', 'x' ])
{
	is((run_script('compare', @$wrong))[0], 2, "refused: compare @$wrong");
}
my ($status, undef, $err) = compare('--database', 'nowhere');
like("$status $err", qr/\A1 compare: .*database "nowhere" does not exist\n\z/, 'no such database');
($status, undef, $err) = compare('--database', 'postgres');
is("$status $err", "1 compare: there is no table history of Zabbix in this database\n",
	'no Zabbix');
($status, undef, $err) = compare('--database', 'postgres', '--output', "$directory/none/x.json");
like(
	"$status $err",
	qr/\A1 compare: there is no directory .*\nhint: mkdir -p /,
	'no such directory');

# ---- a Zabbix of odd names, seen by somebody who may only read ----

$node->safe_psql('postgres', "CREATE DATABASE $odd_sql");
$node->safe_psql('postgres', 'CREATE ROLE reader LOGIN IN ROLE pg_monitor');
create_zabbix_tables($node, $odd);
my $yesterday = day(-1);
$node->safe_psql($odd, <<"SQL");
CREATE EXTENSION pg_stat_statements;
CREATE SCHEMA $odd_sql;
DO \$\$ DECLARE t text; BEGIN
	FOR t IN SELECT relname FROM pg_class WHERE relname ~ '^(history|trends)' AND relkind = 'r' LOOP
		EXECUTE format('ALTER TABLE public.%I SET SCHEMA %I', t, \$odd\$$odd\$odd\$);
	END LOOP;
END \$\$;
SET search_path = $odd_sql;
CREATE TABLE hosts (hostid bigint PRIMARY KEY, status integer);
CREATE TABLE items (itemid bigint PRIMARY KEY, hostid bigint, value_type integer, status integer, flags integer);
INSERT INTO hosts VALUES (1, 0), (2, 3);
INSERT INTO items SELECT i, 1 + (i > 30)::integer, 0, (i = 1)::integer, (i = 2)::integer FROM generate_series(1, 40) i;
INSERT INTO items SELECT i, 1, 3, 0, 4 FROM generate_series(41, 47) i;
CREATE TABLE config (hk_history_global integer, hk_history text, hk_trends_global integer, hk_trends text);
INSERT INTO config VALUES (1, '31d', 0, '365d');
-- four decimals and times of one's own; five items each of the same times; texts that repeat
INSERT INTO history SELECT i, $yesterday + s * 300 + i % 60, ((i * 7919 + s::bigint * s * 104729) % 100000) / 10000.0,
       (i * 86028121::bigint + s * 49979687::bigint * s) % 1000000000 FROM generate_series(1, 30) i, generate_series(0, 287) s;
INSERT INTO history_uint SELECT i, $yesterday + s * 300, s * 100000 + i * s % 77, ((i / 5) * 86028121::bigint + s * 49979687::bigint * s) % 1000000000
  FROM generate_series(50, 69) i, generate_series(0, 287) s;
INSERT INTO history_str SELECT i, $yesterday + s * 300 + i, (ARRAY['up', 'down', 'idle'])[(i + s / 50) % 3 + 1], s * 1000
  FROM generate_series(71, 90) i, generate_series(0, 287) s;
ANALYZE;
GRANT USAGE ON SCHEMA $odd_sql TO reader;
GRANT SELECT ON ALL TABLES IN SCHEMA $odd_sql TO reader;
SQL

my @reader = ('--user', 'reader');
my $state = <<'SQL';
SELECT pg_snapshot_xmax(pg_current_snapshot()) || ' ' || sum(seq_scan) || ' ' || sum(n_tup_ins + n_tup_upd + n_tup_del)
  FROM pg_stat_user_tables WHERE relname ~ '^(history|trends)'
SQL
my $before = value_of($odd, $state);
my $found = found('--database', $odd, @reader);
is(value_of($odd, $state), $before, 'nothing is changed, no table is scanned');
is_deeply($found->{unreadable}, {}, 'a reader sees everything');
is($found->{format}, 1, 'the format');
is($found->{schema}, $odd, 'the schema is found');
is($found->{server}{database}, $odd, '... in that database');
like($found->{text}, qr/\A\Q$odd\E on PostgreSQL /, '... which is named');

my $table = $found->{table};
is( join(' ', map { $_->{table} } @{ $found->{tables} }),
	'history history_uint history_str history_log history_text history_bin trends trends_uint',
	'all tables');
is($table->{history}{rows}, 30 * 288, 'rows');
is($table->{history}{bytes},
	value_of($odd, "SELECT pg_total_relation_size(oid) FROM pg_class WHERE relname = 'history'"),
	'bytes');
is($table->{history}{values_per_second}, 0, 'nothing is inserted');
is("$table->{history}{items} $table->{history_uint}{items}", '28 7', 'items that are asked');
is($table->{history}{kept}, 31 * 86400, 'retention of Zabbix');
is($table->{trends}{retention}, undef, '... where it says so');
is($table->{history_log}{sample}, undef, 'a table without values');

my $sample = $table->{history}{sample};
is("$sample->{items} $sample->{values}", '30 1800', 'values are looked at');
is($sample->{values_per_item_day}, 288, '... which come every five minutes');
is("$sample->{decimals} $sample->{sharing_times}", '1 0', '... decimals, with times of their own');
is($table->{history_uint}{sample}{sharing_times}, 1, 'items that share their times');
is($table->{history_str}{sample}{decimals}, undef, 'texts are no decimals');

# ---- known inserts ----

$before = value_of($odd, 'SELECT pg_stat_statements_reset()');
$found = found_while(
	$odd,
	"SET search_path = $odd_sql;\n"
	  . join('', map { insert_values('history', 1 + 20 * $_, 20, day(0)) } 0 .. 49)
	  . join('', map { insert_values('history_uint', 7 * $_, 7, day(0)) } 100 .. 102)
	  . 'SELECT pg_stat_force_next_flush();',
	@reader);
$table = $found->{table};
is(join(' ', map { $table->{$_}{inserted} } qw(history history_uint trends)),
	'1000 21 0', 'values that were inserted meanwhile');
for my $name (qw(history history_uint))
{
	cmp_ok(
		abs($table->{$name}{values_per_second} * $found->{seconds} / $table->{$name}{inserted} - 1),
		'<', 0.25, "$name: values a second");
}
is( join(' ',
		map { "$_->{calls} @{[ $_->{rows_per_statement} + 0 ]}" }
		map { $table->{$_}{statements} } qw(history history_uint)),
	'50 20 3 7',
	'rows a statement');
cmp_ok($table->{history}{statements}{us_per_value}, '>', 0, '... their time');
is( $table->{history}{rows_kept},
	int(31 * 86400 * $table->{history}{values_per_second} + 0.5),
	'rows when retention is reached');
cmp_ok(
	abs($table->{history}{disk}{plain} /
		  ($table->{history}{rows_kept} * $table->{history}{bytes_per_value}) - 1),
	'<', 0.01,
	'... and their disk');
my $expected = $found->{expected};
for my $what (qw(disk wal_per_second pages_per_second cores))
{
	cmp_ok(
		$expected->{zbxhist}{$what}[1],
		'<',
		$expected->{plain}{$what}[0],
		"$what: less with zbxhist");
}
cmp_ok($found->{server}{wal_per_second}, '>', 0, 'WAL of the server');
like($found->{text}, qr/^  history +[\d.]+ +20\.0 +28 /m, 'the text says so');

# values of an hour, as of a Zabbix that has just begun, are not packed
$node->safe_psql($odd, "UPDATE $odd_sql.config SET hk_history_global = 0");
$found = found_while(
	$odd,
	"SET search_path = $odd_sql;\n"
	  . join('', map { insert_values('history', 1 + 20 * $_, 20, day(0) + 1) } 0 .. 49)
	  . 'SELECT pg_stat_force_next_flush();',
	@reader);
$table = $found->{table};
cmp_ok(
	$table->{history}{disk}{zbxhist}[1],
	'<=',
	$table->{history}{disk}{plain},
	'a few values take no more than they do now');

# ---- other settings, no statistics, no rights ----

$node->safe_psql($odd, <<"SQL");
SET search_path = $odd_sql;
DROP TABLE config;
CREATE TABLE settings (name text, value_str text, value_int integer);
INSERT INTO settings VALUES ('hk_history_global', '', 1), ('hk_history', '2w', 0), ('hk_trends_global', '', 1), ('hk_trends', '8760h', 0);
GRANT SELECT ON settings TO reader;
REVOKE SELECT ON items, history_str FROM reader;
DROP EXTENSION pg_stat_statements;
SQL
$found = found('--database', $odd, @reader);
is( join(' ', map { $found->{table}{$_}{retention} } qw(history trends)),
	14 * 86400 . ' ' . 365 * 86400,
	'settings since Zabbix 7.4');
is( join(' ', sort keys %{ $found->{unreadable} }),
	'items values of history_str',
	'what he may not see is named');
like($found->{text}, qr/^Left out: items: permission denied/m, '... in the text');
like($found->{text}, qr/^Nobody counts rows a statement here/m, 'nobody counts statements');
cmp_ok(
	$found->{expected}{plain}{cores}[0],
	'<=',
	$found->{expected}{plain}{cores}[1],
	'... so there is a range');

# a policy of somebody's is not run
$node->safe_psql($odd, <<"SQL");
SET search_path = $odd_sql;
CREATE FUNCTION public.trap() RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''taken''; END';
ALTER TABLE history ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON history USING (public.trap());
SQL
$found = found('--database', $odd, @reader);
like(
	$found->{unreadable}{'values of history'},
	qr/row-level security policy/,
	'a policy is not run');

# ---- partitions, and chunks that are compressed ----

$node->safe_psql('postgres', qq{CREATE DATABASE "esc\e[31m"});
create_zabbix_tables($node, "esc\e[31m");
$node->safe_psql("esc\e[31m", <<"SQL");
DROP TABLE history;
CREATE TABLE history (itemid bigint NOT NULL, clock integer NOT NULL, value double precision NOT NULL, ns integer NOT NULL,
    PRIMARY KEY (itemid, clock, ns)) PARTITION BY RANGE (clock);
CREATE TABLE "old p'art" PARTITION OF history FOR VALUES FROM (0) TO ($yesterday);
CREATE TABLE "new ""part" PARTITION OF history FOR VALUES FROM ($yesterday) TO (${\ day(2) });
INSERT INTO history SELECT i, $yesterday - 86400 + s * 60, 1, 0 FROM generate_series(1, 5) i, generate_series(0, 99) s;
INSERT INTO history SELECT i, $yesterday + s * 60, s / 10.0, 0 FROM generate_series(1, 3) i, generate_series(0, 99) s;
-- a table that leads nowhere
ALTER TABLE history_uint DROP CONSTRAINT history_uint_pkey;
INSERT INTO history_uint VALUES (1, 2, 3, 4);
-- what TimescaleDB says of chunks, in its words
CREATE SCHEMA _timescaledb_catalog;
CREATE TABLE _timescaledb_catalog.hypertable (id integer, schema_name name, table_name name);
CREATE TABLE _timescaledb_catalog.chunk (id integer, hypertable_id integer);
CREATE TABLE _timescaledb_catalog.compression_chunk_size (chunk_id integer, compressed_heap_size bigint, compressed_toast_size bigint,
    compressed_index_size bigint, numrows_pre_compression bigint);
INSERT INTO _timescaledb_catalog.hypertable VALUES (1, 'public', 'history_str');
INSERT INTO _timescaledb_catalog.chunk VALUES (7, 1), (8, 1);
INSERT INTO _timescaledb_catalog.compression_chunk_size VALUES (7, 1000, 200, 30, 400), (8, 4000, 0, 0, 500);
SQL
$found = found('--database', "esc\e[31m");
$table = $found->{table};
is(join(' ', map { $table->{history}{$_} } qw(parts rows)), '2 800', 'partitions');
is($table->{history}{sample}{items}, 3, '... of which the newest is looked at');
is( $found->{unreadable}{'values of history_uint'},
	'public.history_uint has no index that begins with itemid and clock',
	'a table without its key is left out');
is(join(' ', map { $table->{history_str}{$_} } qw(compressed_bytes rows)),
	'5230 900', 'compressed chunks');
unlike($found->{text}, qr/\e/, 'no name leads a terminal astray');

# ---- which database and which server ----

$node->safe_psql("esc\e[31m",
	'CREATE SCHEMA other; CREATE TABLE other.history (itemid bigint, clock integer)');
($status, undef, $err) = compare('--database', "esc\e[31m");
is( "$status $err",
	"1 compare: several schemas have a table history: other, public\n"
	  . "hint: repeat with --schema and the name of one of them\n",
	'several schemas');
is(found('--database', "esc\e[31m", '--schema', 'other')->{schema}, 'other', '... one of them');
($status, undef, $err) = compare('--database', "esc\e[31m", '--schema', 'none');
like("$status $err", qr/\A1 compare: schema "none" has no table history/, '... or none');
{
	local %ENV = %ENV;
	delete @ENV{qw(PGHOST PGPORT)};
	my $out = '';
	IPC::Run::run(
		[
			"$scripts/compare", '--database', $odd, '--minutes',
			'0.001', '--host', $node->host, '--port',
			$node->port
		],
		'>',
		\$out);
	like($out, qr/^What is to be expected$/m, '--host and --port');
}

# ---- promised, and real ----

create_database($node, 'zabbix');
create_zabbix_tables($node, 'zabbix');
my %rows = (
	history =>
	  "SELECT i, $yesterday + s * 300 + i % 60, ((i * 7919 + s::bigint * s * 104729) % 100000) / 10000.0, (i * 86028121::bigint + s * 49979687::bigint * s) % 1000000000 FROM generate_series(1, 60) i, generate_series(0, 287) s",
	history_uint =>
	  "SELECT i, $yesterday + s * 300, s * 100000 + i * s % 77, ((i / 5) * 86028121::bigint + s * 49979687::bigint * s) % 1000000000 FROM generate_series(50, 119) i, generate_series(0, 287) s",
	history_str =>
	  "SELECT i, $yesterday + s * 300 + i, (ARRAY['up', 'down', 'idle'])[(i + s / 50) % 3 + 1], s * 1000 FROM generate_series(71, 150) i, generate_series(0, 287) s"
);
$node->safe_psql('zabbix', "INSERT INTO $_ (itemid, clock, value, ns) $rows{$_}")
  for sort keys %rows;
my $promised = "$directory/promised.json";
is((compare('--database', 'zabbix', '--output', $promised))[0], 0, 'before the set-up');
$node->safe_psql('zabbix', <<"SQL");
SELECT zbxhist.setup('public', '30 days', '1 year', history_interval => '1 day');
SELECT zbxhist.create_partition(t, '${\ date(-1)}') FROM unnest('{history,history_uint,history_str}'::regclass[]) t;
SQL
maintain($node, 'zabbix');
$node->safe_psql('zabbix', "CALL zbxhist.pack('$_', '${\ date(-1)}')") for sort keys %rows;
my ($code, $out) = run_script('report', '--database', 'zabbix', '--json', '--promised', $promised);
is($code, 0, 'scripts/report takes what was promised');
my $report = JSON::PP->new->utf8->decode($out);
my %real = map { $_->{name} => $_ } @{ $report->{promised}{tables} };
is(scalar keys %real, 8, 'all tables are there');

for my $name (sort keys %rows)
{
	my ($values, $bytes) = split /\|/,
	  value_of('zabbix',
		"SELECT rows, bytes FROM zbxhist.partitions WHERE parent = '$name'::regclass AND kind = 'packed'"
	  );

	is( sprintf('%.2f', $real{$name}{bytes_per_value_now}),
		sprintf('%.2f', $bytes / $values),
		"$name: bytes a value, real");

	is_between(
		$bytes / $values,
		[ 0, $real{$name}{bytes_per_value}[1] ],
		'... no more than promised');
	cmp_ok($bytes / $values, '>', $real{$name}{bytes_per_value}[0] * 0.9, '... nor much less');
}
my (undef, $page) = run_script('report', '--database', 'zabbix', '--promised', $promised);
like($page, qr/<h2 id="promised">Promised on \d{4}-\d\d-\d\d, and real</, '... on the page');
unlike((run_script('report', '--database', 'zabbix'))[1], qr/Promised on/,
	'... if it is asked for');
append_to_file("$directory/wrong.json", '{"format": 1, "tables": [{}]}');
for my $file ("$directory/wrong.json", $real_psql)
{
	($code, undef, $err) = run_script('report', '--database', 'zabbix', '--promised', $file);
	like(
		"$code $err",
		qr/\A1 report: .* is not what scripts\/compare --output writes\nhint: /,
		"not from it: $file");
}
is((run_script('report', '--database', 'zabbix', '--promised', 'none'))[0], 1, 'no such file');

($status, undef, $err) = compare('--database', 'zabbix');
is( "$status $err",
	"1 compare: the tables of this database are managed by zbxhist already\n"
	  . "hint: scripts/report --database 'zabbix'\n",
	'of a managed database there is nothing to compare');

log_is_clean($node);
$node->stop;
done_testing();
