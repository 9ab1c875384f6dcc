# Packed days are moved to another tablespace while sessions read and write
# them, and while the server is killed: no session waits or sees other rows,
# and each day is complete in one place.  A dump can be restored on a server
# without the tablespace.  ZBXHIST_ROUNDS=30 for more.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use File::Spec;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);
use ZbxhistTest;

my $rounds = $ENV{ZBXHIST_ROUNDS} // 4;
srand($ENV{ZBXHIST_SEED} // 1);

my $node = test_server('tablespace', full_page_writes => 'on');
my @places = map { PostgreSQL::Test::Utils::tempdir() } 1 .. 2;

$node->safe_psql('postgres', "CREATE TABLESPACE cold LOCATION '$places[0]'");
create_database($node, 'zabbix');
create_zabbix_tables($node, 'zabbix');
$node->safe_psql('zabbix',
	"SELECT zbxhist.create_parent('history', '1 day', retention => '200 years', pack_after => '1 day')"
);
$node->safe_psql(
	'zabbix', qq{
	SELECT zbxhist.create_partition('history', '${\ date($_)}');
	INSERT INTO history SELECT i, ${\ day($_)} + j * 60, i + j % 7 / 8.0, i * j FROM generate_series(1, 50) i, generate_series(0, 1439) j;
	CALL zbxhist.pack('history', '${\ date($_)}');
}) for -9 .. -7;
$node->safe_psql(
	'zabbix', q{
	CREATE TABLE plain (LIKE history INCLUDING ALL);
	INSERT INTO plain SELECT * FROM history;
	-- as often as one likes
	CREATE PROCEDURE move_all(wanted name) LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM zbxhist.alter_parent('history', packed_tablespace => wanted);
		COMMIT;
		FOR i IN 1 .. 600 LOOP
			UPDATE zbxhist.packed_day SET repacked_at = NULL;
			UPDATE zbxhist.parent_state SET repack_after = NULL;
			COMMIT;
			CALL zbxhist.run_maintenance();
			EXIT WHEN NOT EXISTS (SELECT FROM zbxhist.partitions WHERE kind = 'packed' AND tablespace <> wanted);
			PERFORM pg_sleep(0.05);
		END LOOP;
	END $$;
});

# Where the packed days are: tablespace and number.
sub where
{
	return $node->safe_psql('zabbix',
		"SELECT tablespace, count(*) FROM zbxhist.partitions WHERE kind = 'packed' GROUP BY 1 ORDER BY 1"
	);
}

# ---- readers and writers beside it ----

# one that has read a day and goes on: its transaction is not waited for
my $reader = $node->background_psql('zabbix');
my $first = $reader->query_safe(
	'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*), sum(value) FROM history WHERE itemid = 7'
);
$node->safe_psql('zabbix',
	q{SELECT zbxhist.alter_parent('history', packed_tablespace => 'cold', packed_tablespace_after => '5 days')}
);
maintain($node, 'zabbix');
is(where(), 'pg_default|3', 'a day that is being read is left alone');
is($reader->query_safe('SELECT count(*), sum(value) FROM history WHERE itemid = 7'),
	$first, '... and read on');
my ($code) = psql_script(
	$node,
	'zabbix',
	"SET statement_timeout = '10min'; "
	  . join('', map { "INSERT INTO $_ VALUES (7, ${\ day(-8)} + 30, 1, 5);" } qw(history plain)),
	'-v',
	'ON_ERROR_STOP=1');
is($code, 0, '... and written to');
$reader->query_safe('COMMIT');
$reader->quit;

# sessions that read and write all the time
my $done = $node->basedir . '/moved';

sub read_an_item
{
	my ($client, $counts) = @_;
	my $which = '(SELECT count(*), sum(value) FROM %s WHERE itemid = ' . (1 + int rand 50) . ')';
	my $answer = $client->query(sprintf "$which EXCEPT $which", 'history', 'plain');

	$counts->{$_}++ for @{ $answer->{errors} };
	$counts->{'other rows'} += @{ $answer->{rows} } if @{ $answer->{rows} };
}

sub write_a_row
{
	my ($client, $counts) = @_;
	my $row = sprintf '(%d, %d, 3, 5)', 200 + int rand 1e9, day(-9) + int rand 259200;
	my $answer = $client->query(
		"BEGIN; INSERT INTO history VALUES $row; INSERT INTO plain VALUES $row; COMMIT");

	$counts->{$_}++ for @{ $answer->{errors} };
}

my %jobs = ('reader 1' => \&read_an_item, 'reader 2' => \&read_an_item, writer => \&write_a_row);
my @processes = map { in_background($node, 'zabbix', $_, 2, 1, $jobs{$_}, rounds_after(5, $done)) }
  sort keys %jobs;
for my $place (qw(cold pg_default cold))
{
	$node->safe_psql('zabbix', "CALL move_all('$place')");
	is(where(), "$place|3", "all days are moved to $place");
}
append_to_file($done, '');
waitpid($_, 0) for @processes;
for my $job (sort keys %jobs)
{
	my $outcome = outcome_of($node, $job);

	like($outcome, qr/\Arounds \d+\n\z/, "$job: no error, no row too many or too few");
	note("$job: $outcome");
}
maintain($node, 'zabbix');
is(totals($node, 'zabbix', 'history'), totals($node, 'zabbix', 'plain'), 'every row is there');
ok((grep { -s } glob "$places[0]/PG_*/*/*"), 'there are files in the tablespace');
like(
	(psql_script($node, 'zabbix', 'DROP TABLESPACE cold'))[2],
	qr/tablespace "cold" is not empty/,
	'... so it cannot be dropped');

# ---- the server is killed ----

for my $round (1 .. $rounds)
{
	my ($place, $former) = $round % 2 ? qw(pg_default cold) : qw(cold pg_default);
	my $call = start_psql(
		$node, 'zabbix',
		$node->basedir . '/out',
		sub { print { $_[0] } "CALL move_all('$place');\n" });

	sleep 0.5 + rand 2;
	kill_server($node);
	wait_for_end($call);
	start_after_crash($node);
	my $state = where() =~ s/\n/, /r;
	my $days = 0;
	$days += $_ for $state =~ /\|(\d)/g;
	is($days, 3, "killed: $state");
	is( totals($node, 'zabbix', 'history'),
		totals($node, 'zabbix', 'plain'),
		'... every row is there, once');
	is( $node->safe_psql(
			'zabbix',
			"SELECT count(*) FROM pg_class k WHERE k.relnamespace = 'zbxhist_packed'::regnamespace AND k.relkind = 'r'"
			  . ' AND NOT EXISTS (SELECT FROM zbxhist.packed_day d WHERE d.day = k.oid)'),
		0,
		'... and no table is left over');
	$node->safe_psql('zabbix', "CALL move_all('$place')");
	is(where(), "$place|3", '... the next try succeeds');
}
$node->safe_psql('zabbix', "CALL move_all('cold')");
is($node->safe_psql('zabbix', "SELECT count(*) FROM zbxhist.verify('history')"), 0, 'all is whole');

# ---- a dump ----

my $dump = $node->basedir . '/zabbix.sql';
my $told = "SELECT severity, object FROM zbxhist.check() WHERE code = 'packed_tablespace'";
$node->command_ok([ 'pg_dump', '-f', $dump, '-d', $node->connstr('zabbix') ], 'pg_dump');
$node->safe_psql('postgres', 'CREATE DATABASE again');
$node->command_ok(
	[
		'psql', '-XqAt', '-v', 'ON_ERROR_STOP=1',
		'-o', File::Spec->devnull, '-f', $dump,
		'-d', $node->connstr('again')
	],
	'... is restored where the tablespace is');
is( $node->safe_psql(
		'again', "SELECT DISTINCT tablespace FROM zbxhist.partitions WHERE kind = 'packed'"),
	'cold',
	'... with its days in it');
is($node->safe_psql('again', $told), '', '... all is well');

# a server without it
my $other = test_server('elsewhere');
$other->safe_psql('postgres', 'CREATE DATABASE zabbix');
$node->command_ok([ 'pg_dump', '--no-tablespaces', '-f', $dump, '-d', $node->connstr('zabbix') ],
	'pg_dump --no-tablespaces');
$other->command_ok(
	[
		'psql', '-XqAt', '-v', 'ON_ERROR_STOP=1',
		'-o', File::Spec->devnull, '-f', $dump,
		'-d', $other->connstr('zabbix')
	],
	'... is restored where there is none');
$other->safe_psql('zabbix', "ALTER DATABASE zabbix SET session_preload_libraries = 'zbxhist'");
is(totals($other, 'zabbix', 'history'), totals($node, 'zabbix', 'history'), '... with all rows');
is($other->safe_psql('zabbix', $told),
	'warning|public.history', '... check() tells that there is no such tablespace');
$other->safe_psql('zabbix', "CALL zbxhist.repack('history', '${\ date(-8)}')");
is( $other->safe_psql(
		'zabbix', "SELECT DISTINCT tablespace FROM zbxhist.partitions WHERE kind = 'packed'"),
	'pg_default',
	'... and days are written where the table is');

# as one that is made later
$other->safe_psql('postgres', "CREATE TABLESPACE cold LOCATION '$places[1]'");
$other->safe_psql('zabbix', 'UPDATE zbxhist.packed_day SET repacked_at = NULL');
is( $other->safe_psql(
		'zabbix', "SELECT count(*) FROM zbxhist.preview() WHERE action = 'set_tablespace'"),
	3,
	'... until there is one');
maintain($other, 'zabbix');
is( $other->safe_psql(
		'zabbix', "SELECT count(*) FROM zbxhist.partitions WHERE tablespace = 'cold'"),
	3,
	'... to which maintenance moves them');
is(totals($other, 'zabbix', 'history'), totals($node, 'zabbix', 'history'), '... with all rows');

log_is_clean($_) for $node, $other;
$_->stop for $other, $node;
done_testing();
