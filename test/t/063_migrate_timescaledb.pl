# From TimescaleDB: hypertables as Zabbix's script makes them, with compressed chunks where that
# edition is installed, give way to managed tables and are imported while values are written; then
# check() leads to the end, a command after the other, until TimescaleDB itself is gone.
#
# ZABBIX_TIMESCALEDB names Zabbix's script (timescaledb/schema.sql of the
# package zabbix-sql-scripts, or timescaledb.sql), if it is not where that has it.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PgWire;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

my ($directory) = run_command([ $ENV{PG_CONFIG} // 'pg_config', '--sharedir' ]);
plan skip_all => 'TimescaleDB is not installed' if !-e "$directory/extension/timescaledb.control";

my $node = test_server(
	'timescaledb',
	shared_preload_libraries => 'timescaledb',
	'timescaledb.telemetry_level' => 'off');
my $old_rows = 60000;

$node->safe_psql('postgres', 'CREATE ROLE zabbix LOGIN; CREATE ROLE grafana LOGIN');
create_database($node, 'zabbix', 'zabbix');
$node->safe_psql('zabbix', 'SET ROLE zabbix; CREATE EXTENSION zbxhist_migrate');
create_zabbix_tables($node, 'zabbix', 'zabbix');
$node->safe_psql('zabbix', 'SET client_min_messages = error; CREATE EXTENSION timescaledb');

# As the owner of the tables, who is no superuser.
sub sql { return sql_as($node, 'zabbix', 'zabbix', @_) }
sub messages_of { return messages_as($node, 'zabbix', 'zabbix', @_) }

# Everything that has been written, by whom ever, is in the plain table, too.
sub is_like_plain
{
	my ($table, $name) = @_;

	is( totals($node, 'zabbix', $table),
		totals($node, 'zabbix', "plain_$table"),
		"$name: every row is there once, as it was");
}

# Zabbix's own script, or what it does with these tables.
sub timescaledb_script
{
	for my $file (
		$ENV{ZABBIX_TIMESCALEDB},
		'/usr/share/zabbix-sql-scripts/postgresql/timescaledb/schema.sql',
		'/usr/share/zabbix-sql-scripts/postgresql/timescaledb.sql',
		'/usr/share/zabbix-server-pgsql/timescaledb.sql')
	{
		next if !defined $file || !-e $file;
		note("Zabbix's script is $file");
		return slurp_file($file);
	}
	note("Zabbix's script is not installed");
	return join '', (
		map {
				"SELECT create_hypertable('$_', 'clock', chunk_time_interval => "
			  . (/trends/ ? 2592000 : 86400)
			  . ', migrate_data => true);'
		} qw(history history_uint history_log history_text history_str history_bin trends trends_uint)
	  ),
	  "UPDATE config SET db_extension = 'timescaledb', hk_history_global = 1, hk_trends_global = 1,"
	  . " compression_status = 1, compress_older = '7d';";
}

# The lines of check() that are about it.
sub steps
{
	return sql("SELECT code || ' ' || object || ' ' || hint FROM zbxhist.check()"
		  . " WHERE code ~ '^(hypertable|timescaledb)'");
}

# The commands of the document, in order.
sub document
{
	my $text = slurp_file("$FindBin::RealBin/../../docs/i-run-timescaledb.md");

	return $text =~ /^\s*```sql\n(.*?)^\s*```/gms;
}

# ---- Zabbix on TimescaleDB ----

sql(<<'SQL');
CREATE TABLE config (configid bigint PRIMARY KEY, hk_history_mode integer DEFAULT 1 NOT NULL,
    hk_history_global integer DEFAULT 0 NOT NULL, hk_history varchar(32) DEFAULT '31d' NOT NULL,
    hk_trends_mode integer DEFAULT 1 NOT NULL, hk_trends_global integer DEFAULT 0 NOT NULL,
    hk_trends varchar(32) DEFAULT '365d' NOT NULL, db_extension varchar(32) DEFAULT '' NOT NULL,
    compression_status integer DEFAULT 0 NOT NULL, compress_older varchar(32) DEFAULT '7d' NOT NULL);
INSERT INTO config (configid) VALUES (1);
CREATE TABLE settings (name varchar(255) PRIMARY KEY, type integer NOT NULL, value_str text DEFAULT '' NOT NULL,
    value_int integer DEFAULT 0 NOT NULL);
CREATE TABLE auditlog (auditid varchar(25) PRIMARY KEY, userid bigint NULL, clock integer DEFAULT 0 NOT NULL,
    details text DEFAULT '' NOT NULL);
CREATE INDEX auditlog_1 ON auditlog (userid, clock);
GRANT SELECT ON history, auditlog TO grafana;
SQL

# the names of Zabbix's cuids: 36 to the power of milliseconds
sql("INSERT INTO auditlog SELECT 'c' || 'lpd' || lpad(i::text, 21, '0'), 1, ${\ day(0)}, 'x' FROM generate_series(10000, 10500) i"
);
my %value = (
	history => 'i / 8.0',
	history_uint => '18446744073709551615 - i',
	history_text => "repeat(md5(i::text), CASE i % 5000 WHEN 0 THEN 900 ELSE 1 END)");
for my $table (sort keys %value)
{
	sql(    "CREATE TABLE plain_$table (LIKE $table INCLUDING ALL);"
		  . "INSERT INTO $table (itemid, clock, value, ns)"
		  . " SELECT i % 70, ${\ day(-9)} + i * 13 + (i * 7919) % 900, $value{$table}, i % 1000000000"
		  . " FROM generate_series(1, $old_rows) i ON CONFLICT DO NOTHING;"
		  . "INSERT INTO plain_$table SELECT * FROM $table");
}
sql(    'CREATE TABLE plain_trends (LIKE trends INCLUDING ALL);'
	  . "INSERT INTO trends SELECT i % 10, ${\ day(-100)} + i / 10 * 3600, 60, i, i + 1, i + 2 FROM generate_series(1, 20000) i;"
	  . 'INSERT INTO plain_trends SELECT * FROM trends');
psql_script($node, 'zabbix', "SET SESSION AUTHORIZATION zabbix;\n" . timescaledb_script());
is(sql('SELECT db_extension FROM config'), 'timescaledb', "Zabbix's script has been run");

# what the script of 7.0 and later does with auditlog, that of 6.0 does not
if (rows_of($node, 'zabbix',
		"timescaledb_information.hypertables WHERE hypertable_name = 'auditlog'") == 0)
{
	sql("CREATE FUNCTION cuid_timestamp(cuid varchar(25)) RETURNS integer LANGUAGE sql IMMUTABLE"
		  . " AS \$\$ SELECT 1700000000 + right(cuid, 4)::integer * 10000 \$\$;"
		  . "SELECT create_hypertable('auditlog', 'auditid', chunk_time_interval => 604800,"
		  . " time_partitioning_func => 'cuid_timestamp', migrate_data => true)");
}
cmp_ok(
	$node->safe_psql(
		'zabbix',
		"SELECT count(*) FROM timescaledb_information.chunks WHERE hypertable_name = 'history'"),
	'>=', 9,
	'... and has made hypertables');

# as the Zabbix server does, with the edition that has compression
my $compresses = $node->safe_psql('zabbix', 'SHOW timescaledb.license') eq 'timescale';
if ($compresses)
{
	sql('CREATE FUNCTION zbx_ts_unix_now() RETURNS integer LANGUAGE sql STABLE AS $$ SELECT extract(epoch FROM now())::integer $$;'
		  . join '',
		map {
			my $order = /trends/ ? 'clock' : 'clock,ns';

			"SELECT set_integer_now_func('$_', 'zbx_ts_unix_now', true);"
			  . "ALTER TABLE $_ SET (timescaledb.compress, timescaledb.compress_segmentby = 'itemid', timescaledb.compress_orderby = '$order');"
			  . "SELECT add_compression_policy('$_', integer '612000');"
			  . "SELECT count(compress_chunk(c)) FROM show_chunks('$_', older_than => ${\ day(-2)}) c;"
		} (sort keys %value),
		'trends');
	cmp_ok(
		$node->safe_psql(
			'zabbix', 'SELECT count(*) FROM timescaledb_information.chunks WHERE is_compressed'),
		'>', 20,
		'chunks are compressed');
	is_like_plain($_, "$_, compressed") for sort keys %value;
}
else
{
	note('this edition of TimescaleDB does not compress');
}

# ---- what is refused ----

my $adopt = 'CALL zbxhist.adopt_hypertable';
like(
	messages_of("$adopt('plain_history')"),
	qr/ERROR:  table public\.plain_history is not a hypertable of TimescaleDB\nHINT:  SELECT zbxhist\.create_parent/,
	'a plain table is no hypertable');
like(
	messages_of("SELECT zbxhist.create_parent('history')"),
	qr/it is a TimescaleDB hypertable\n.*\nHINT:  CALL zbxhist\.adopt_hypertable\('public\.history'\);/,
	'create_parent says what to call');
like(messages_of("$adopt('history', NULL)"), qr/ERROR:  dry_run must not be null/, 'a null');
sql('CREATE VIEW seen AS SELECT * FROM history');
like(
	messages_of("$adopt('history')"),
	qr/ERROR:  cannot take over table public\.history: .*view public\.seen\nHINT:  Drop that/,
	'a view would go on showing the hypertable');
sql('DROP VIEW seen; CREATE TABLE history_old ()');
like(
	messages_of("$adopt('history')"),
	qr/ERROR:  cannot rename table public\.history: table public\.history_old already exists\nHINT:  ALTER TABLE public\.history_old RENAME TO history_old_1;/,
	'a name that is taken');
sql('DROP TABLE history_old');
my (undef, undef, $denied) =
  psql_script($node, 'zabbix', "SET SESSION AUTHORIZATION grafana;\n$adopt('history');\n");
like($denied, qr/permission denied/, '... and somebody else');
like(
	messages_of("$adopt('history', dry_run => true)"),
	qr/would rename hypertable public\.history, of \d+ chunks, to history_old and put an empty table in its place, managed by zbxhist\n.*policy: .*retention 31 days/,
	'a dry run says what it would do');
is(sql('SELECT count(*) FROM zbxhist.parent_config'), 0, '... and does nothing');
like(
	steps(),
	qr/^hypertable public\.history CALL zbxhist\.adopt_hypertable\('public\.history'\);/m,
	'check() says where to begin');

# ---- the exchange and the import, while values are written ----

my $item = 1000000;
my $stream = in_background(
	$node, 'zabbix', 'values', 25, 3,
	sub {
		my ($client, $counts) = @_;
		my $rows = value_rows($item, 100, time() - (rand() < 0.3 ? 86400 * 5 : 0));

		$item += 100;
		my $result =
		  $client->query("begin; insert into history (itemid,clock,ns,value) values $rows;"
			  . " insert into plain_history (itemid,clock,ns,value) values $rows;"
			  . ' commit');
		$counts->{"error $_"}++ for @{ $result->{errors} };
		$client->query('rollback') if @{ $result->{errors} };
	});
my ($create, $look, $exchange, $tell, $import, $rest) = document();
like($create, qr/CREATE EXTENSION zbxhist_migrate;/, 'the document begins');
my @waiting = grep { /^hypertable / } split /\n/, steps();
cmp_ok(scalar @waiting, '>=', 7, 'a line of check() for each table');
is( scalar(() = messages_of($look) =~ /would rename hypertable/g),
	scalar @waiting,
	'a dry run of each');
is( scalar(
		() =
		  messages_of($exchange) =~
		  /is managed by zbxhist now; existing rows are in hypertable public\.\w+_old/g),
	scalar @waiting,
	'all are exchanged, by one line');
is( sql("SELECT string_agg(k.relname, ' ' ORDER BY 1) FROM pg_index x JOIN pg_class k ON k.oid = x.indexrelid WHERE x.indrelid = 'history'::regclass"
	),
	'history_pkey',
	'the key has its name, and what TimescaleDB added is not there');
is(sql("SELECT has_table_privilege('grafana', 'history', 'SELECT')"),
	't', '... and others their privileges');
like(
	messages_of("$adopt('history')"),
	qr/is not a hypertable of TimescaleDB\nHINT:  CALL zbxhist\.import\('public\.history_old', 'public\.history'\);/,
	'a second call says how to go on');
my $lines = steps();
like(
	$lines,
	qr/\Ahypertable_setting config\.db_extension UPDATE public\.config SET .*\n(hypertable_old .*\n)+hypertable_other public\.auditlog SELECT zbxhist\.release_hypertable\('public\.auditlog'\);\ntimescaledb timescaledb DROP EXTENSION timescaledb;\z/,
	'check() says what is left, in order');

like(
	messages_of("CALL zbxhist.import('history_old', 'history', dry_run => true)"),
	qr/would import \d+ rows of table public\.history_old into table public\.history: .* parts, of which \d+ are packed/,
	'the import is planned by chunks');
is(messages_of($tell), '', 'Zabbix is told');
is(sql("SELECT db_extension || compression_status FROM config"),
	'0', '... that its tables are no hypertables');
my $messages = messages_of($import);

for my $table (sort(keys %value), 'trends')
{
	my $rows = $table eq 'trends' ? 20000 : '\d+';

	like(
		$messages,
		qr/all $rows rows of table public\.${table}_old are in table public\.$table: $rows were stored, 0 were skipped.*\n.*public\.${table}_old is no longer needed\nHINT:  DROP TABLE public\.${table}_old;/,
		"$table is imported");
}
wait_for_end($stream);
unlike(outcome_of($node, 'values'), qr/error|lost/, 'no INSERT has failed meanwhile');
is_like_plain($_, $_) for sort(keys %value), 'trends';
cmp_ok(sql("SELECT count(*) FROM zbxhist.packed_day WHERE parent = 'history'::regclass"),
	'>=', 6, 'days are packed');
is(sql("SELECT count(*) FROM zbxhist.verify('history')"), 0, 'all packed days are sound');

# ---- a hypertable that changes after it was read ----

sql("INSERT INTO history_old VALUES (5, ${\ day(-1)}, 5, 5)");
sql("INSERT INTO plain_history VALUES (5, ${\ day(-1)}, 5, 5)");
like(
	messages_of("CALL zbxhist.import('history_old', 'history')"),
	qr/: 1 were stored, \d+ were skipped/,
	'a second import stores what is new only');
is_like_plain('history', 'again');

# ---- the end, as check() has it ----

like(sql($rest), qr/DROP TABLE.*DROP EXTENSION/s, 'the document shows what is left');
for (1 .. 2)
{
	for my $hint (
		split /\n/,
		$node->safe_psql(
			'zabbix', "SELECT hint FROM zbxhist.check() WHERE code ~ '^(hypertable|timescaledb)'"))
	{
		my ($status, undef, $messages) = psql_script($node, 'zabbix',
			($hint =~ /EXTENSION/ ? '' : "SET SESSION AUTHORIZATION zabbix;\n") . "$hint\n");

		is($status, 0, $hint) or diag($messages);
	}
}
is(steps(), '', 'nothing is left');
is($node->safe_psql('zabbix', "SELECT count(*) FROM pg_extension WHERE extname = 'timescaledb'"),
	0, '... not even TimescaleDB');
is( sql("SELECT count(*) FROM auditlog")
	  . sql(
		"SELECT string_agg(relname, ' ' ORDER BY relname) FROM pg_class WHERE relname ~ '^auditlog' AND relnamespace = 'public'::regnamespace"
	  ),
	'501auditlog auditlog_1 auditlog_pkey',
	'auditlog is a plain table with all its rows');
is(sql("SELECT has_table_privilege('grafana', 'auditlog', 'SELECT')"),
	't', '... and its privileges');
is(sql("SELECT count(*) FROM pg_class WHERE relname ~ '^(history|trends).*_old'"),
	0, 'no hypertable is left');
maintain($node, 'zabbix', 'zabbix');
is_like_plain($_, "$_, after all") for sort(keys %value), 'trends';
is(sql("SELECT string_agg(code, ' ') FROM zbxhist.check() WHERE severity = 'error'"),
	'', 'nothing is wrong');
log_is_clean($node);
$node->stop;

done_testing();
