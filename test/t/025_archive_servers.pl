# Archived days on two servers: one query reads both, and retention and
# maintenance take care of both.  While one is down, only queries that need it
# fail.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

my $node = test_server('here', autovacuum => 'off', session_preload_libraries => 'zbxhist');
plan skip_all => 'postgres_fdw is not installed' unless has_extension($node, 'postgres_fdw');

create_database($node, 'zabbix');
create_zabbix_tables($node, 'zabbix');
my %cold = map { $_ => add_archive_server($node, 'zabbix', $_) } 'north', 'south';
create_packed_history(
	$node,
	'zabbix',
	'i, :from + j * 600, i * j, i + j % 7 FROM generate_series(1, 30) i, generate_series(0, 143) j',
	9,
	8,
	7,
	6,
	5,
	4);

# days of both servers by turns, and two that stay
for ([ 9, 'north' ], [ 8, 'south' ], [ 7, 'north' ], [ 6, 'south' ])
{
	my ($ago, $server) = @$_;

	$node->safe_psql(
		'zabbix', qq{
		SELECT zbxhist.alter_parent('history', archive_server => '$server');
		CALL zbxhist.archive('history', '${\ date(-$ago)}');
	});
}

# What a session says, and what goes to it besides.
sub ask
{
	my ($sql) = @_;
	my ($status, $out, $err) = $node->psql('zabbix', $sql);

	return ($out, $err);
}

# The table reads as its twin.
sub is_whole
{
	my ($name) = @_;

	is($node->safe_psql('zabbix', 'SELECT count(*) FROM difference'), 0, $name);
}

sub groups_on
{
	my ($server) = @_;

	return $cold{$server}
	  ->safe_psql('cold', 'SELECT count(*) FROM zbxhist_archive.packed_group WHERE number > 0');
}

# ---- both ----

is( $node->safe_psql(
		'zabbix',
		"SELECT string_agg(server || ' ' || n, ', ' ORDER BY server) FROM (SELECT server, count(*) AS n FROM zbxhist.archive_copy GROUP BY 1) c"
	),
	'north 2, south 2',
	'two days on each');
is_whole('one query reads both, and what is here');
is( $node->safe_psql(
		'zabbix',
		"SELECT count(*) FROM zbxhist.range(NULL::history, 7, ${\ day(-10)}, ${\ day(0)}, 'desc')"),
	6 * 144,
	'... so does a function');

# Each server's rows wait for a lock there: both queries are seen to wait at once.
my %gate;
for my $server (sort keys %cold)
{
	$cold{$server}->safe_psql(
		'cold', q{
		ALTER TABLE zbxhist_archive.packed_group RENAME TO stored_group;
		CREATE FUNCTION zbxhist_archive.pass() RETURNS boolean LANGUAGE plpgsql AS
			'BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN true; END';
		CREATE VIEW zbxhist_archive.packed_group AS SELECT * FROM zbxhist_archive.stored_group WHERE zbxhist_archive.pass();
	});
	$gate{$server} = $cold{$server}->background_psql('cold');
	$gate{$server}->query('SELECT pg_advisory_lock(1)');
}
my $reading = $node->background_psql('zabbix');
$reading->query_until(qr/begun/,
	"\\echo begun\nSELECT count(*) FROM (SELECT value FROM history WHERE itemid = 7 ORDER BY clock DESC OFFSET 0) h;\n"
);
for my $server (sort keys %cold)
{
	ok( $cold{$server}->poll_query_until(
			'cold',
			q{SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'advisory' AND state = 'active')}
		),
		"server $server is at work while the other one is, too");
}
$_->quit for values %gate;
like($reading->query('SELECT 1'), qr/864/, '... for all rows of an item');
$reading->quit;
$cold{$_}->safe_psql(
	'cold', q{
	DROP VIEW zbxhist_archive.packed_group;
	DROP FUNCTION zbxhist_archive.pass();
	ALTER TABLE zbxhist_archive.stored_group RENAME TO packed_group;
}) for keys %cold;

# ---- one is away ----

my $all = 'SELECT count(*), sum(value * 1) FROM history WHERE itemid = 7';
$cold{south}->stop('fast');
my (undef, $err) = ask($all);
like(
	$err,
	qr/ERROR:  could not connect to server "south"/,
	'a server that is away is an error, with its name');
is((ask("SELECT count(*) FROM history WHERE itemid = 7 AND clock >= ${\ day(-5)}"))[1],
	'', 'one that needs it not goes on');
is( (   ask("SELECT (SELECT clock FROM history WHERE itemid = 7 ORDER BY clock DESC LIMIT 1) = ${\ day(-4)} + 143 * 600"
		))[1],
	'',
	'... so do newest values');

# what an administrator is told
$node->safe_psql('zabbix',
	"INSERT INTO history VALUES (7, ${\ day(-8)} + 7, 1, 1); INSERT INTO plain VALUES (7, ${\ day(-8)} + 7, 1, 1)"
);
maintain($node, 'zabbix');
is( $node->safe_psql(
		'zabbix',
		q{SELECT severity, object, message ~ '^2 archived days cannot be read .first noticed by maintenance at .*.: could not connect to server "south"' FROM zbxhist.check() WHERE code = 'archive_unreachable'}
	),
	'error|south|t',
	'check() tells which server is away');
my $metrics =
  q{SELECT m -> 'archives_unreachable', m #>> '{archives,0,days}', m #>> '{archives,1,server}',
		m #>> '{archives,0,unreachable_since}' IS NULL, m #>> '{archives,1,unreachable_since}' IS NULL,
		t -> 'archived_days', t -> 'archived_values', (t ->> 'archived_bytes')::bigint > 0, t -> 'archived_rows_waiting'
	  FROM (SELECT zbxhist.metrics() AS m) q, LATERAL (SELECT m #> '{tables,0}' AS t) u};
is( $node->safe_psql('zabbix', $metrics),
	'1|2|south|t|f|4|' . 4 * 30 * 144 . '|t|1',
	'... and so does metrics()');
like(
	$node->safe_psql(
		'zabbix',
		"BEGIN; ALTER SERVER south OPTIONS (SET host '127.0.0.1'); SELECT code, hint FROM zbxhist.check() WHERE code = 'archive_timeout'; ROLLBACK"
	),
	qr/^archive_timeout\|ALTER SERVER south OPTIONS \(ADD keepalives_idle '5', .*\);$/,
	'... nor a connection that is lost without a word');
$node->safe_psql('zabbix', 'ALTER SERVER south OPTIONS (DROP connect_timeout)');
like(
	$node->safe_psql('zabbix', 'SELECT code, hint FROM zbxhist.check()'),
	qr/archive_timeout\|ALTER SERVER south OPTIONS \(ADD connect_timeout '5'\);/,
	'a server without a timeout is told');
$node->safe_psql('zabbix', "ALTER SERVER south OPTIONS (ADD connect_timeout '2')");

my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump';
$node->command_ok([ 'pg_dump', '--inserts', '-f', $dump, $node->connstr('zabbix') ],
	'a dump needs no archive server');
$node->command_fails_like(
	[
		'pg_dump', '-f', $dump, '--include-foreign-data=zbxhist',
		'-t', 'history*', $node->connstr('zabbix')
	],
	qr/could not connect to server "south"/,
	'one that is asked for all fails');

# one that is there in a transaction and then lost is an error
$cold{south}->start;
my $session = $node->background_psql('zabbix', on_error_stop => 0);
$session->query("BEGIN; $all");
$cold{south}->stop('immediate');
$session->query($all);
isnt($session->{stderr}, '', 'a connection that is lost is an error');
$session->quit;

# there again
$cold{south}->start;
maintain($node, 'zabbix');
is( $node->safe_psql('zabbix', $metrics),
	'0|2|south|t|t|4|' . (4 * 30 * 144 + 1) . '|t|0',
	'nor is a server away');
is($node->safe_psql('zabbix', "SELECT count(*) FROM zbxhist.check() WHERE code ~ 'archive'"),
	0, '... as check() has it');
is_whole('all is there');

# ---- retention ----

$node->safe_psql(
	'zabbix', qq{
	SELECT zbxhist.alter_parent('history', retention => '6 days', accept_deletion => true);
	CALL zbxhist.run_maintenance();
	DELETE FROM plain WHERE clock < ${\ day(-6)};
	UPDATE zbxhist.archive_copy SET left_at = left_at - interval '2 days';
	CALL zbxhist.run_maintenance();
});
is_whole('retention drops days of both servers');
is(groups_on('north'), 0, '... there, too');
isnt(groups_on('south'), 0, 'but not what is younger');

done_testing();
