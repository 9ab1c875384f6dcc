# A server whose clock is 400 days ahead, with the background worker on: no value goes, and check()
# prints the call that agrees.  When the clock is right again, maintenance goes on by itself, and
# nothing of that time is left but what check() tells.
use strict;
use warnings;

use File::Basename qw(dirname);
use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

# ---- a clock that is set while the server runs ----

my $directory = PostgreSQL::Test::Utils::tempdir();
my ($library, $file) = ("$directory/clock.so", "$directory/ahead");
my $real = ($ENV{ZBXHIST_CLOCK} // '') =~ /^([+-]\d+)$/ ? $1 : 0;
my $ahead = 400 * 86400;

# Sets the clocks of the server that many seconds ahead.
sub set_clock
{
	my ($seconds) = @_;

	open my $out, -e $file ? '+<' : '>', $file or die "$file: $!";
	binmode $out;
	print {$out} pack('q', $real + $seconds);
	close $out or die "$file: $!";
	return;
}

system_or_bail('gcc', '-shared', '-fPIC', '-o', $library, dirname(__FILE__) . '/../clock/clock.c');
set_clock(0);
$ENV{LD_PRELOAD} = join ' ', $library, grep { defined } $ENV{LD_PRELOAD};
$ENV{ZBXHIST_CLOCK} = $file;

my $node = test_server(
	'clock',
	shared_preload_libraries => 'zbxhist',
	'zbxhist.maintenance_interval' => 1,
	'zbxhist.databases' => '');

# ---- tables with 20 days of values, and a plain one of the same rows ----

create_database($node, 'zabbix');
create_zabbix_tables($node, 'zabbix');
$node->safe_psql('zabbix', <<"SQL");
CREATE TABLE plain (LIKE history);
CREATE TABLE plain_trends (LIKE trends);
SELECT * FROM zbxhist.setup('public', '31 days', '1000 days');
SELECT zbxhist.create_partition('history', (now() AT TIME ZONE 'UTC')::date - i) FROM generate_series(1, 20) i;
SELECT zbxhist.create_partition('trends', '@{[ date(-20) ]}');
INSERT INTO plain SELECT i, @{[ day(-20) ]} + s * 1800 + i, s, i FROM generate_series(1, 10) i, generate_series(0, 959) s;
INSERT INTO history TABLE plain;
INSERT INTO plain_trends SELECT i, @{[ day(-20) ]} + s * 3600, 60, s, s, s FROM generate_series(1, 10) i, generate_series(0, 479) s;
INSERT INTO trends TABLE plain_trends;
CALL zbxhist.run_maintenance();
ALTER DATABASE zabbix SET session_preload_libraries = 'zbxhist';
SQL

# What both tables get.
sub write_both
{
	my ($sql) = @_;

	$node->safe_psql('zabbix', join ';', map { $sql =~ s/\bhistory\b/$_/gr } qw(history plain));
	return;
}

sub is_like_plain
{
	my ($name) = @_;

	is(totals($node, 'zabbix', $_->[0]), totals($node, 'zabbix', $_->[1]), "$_->[0], $name")
	  for [ 'history', 'plain' ], [ 'trends', 'plain_trends' ];
	return;
}

# Waits for the ends of two runs of the worker, the second of which has begun after this.
sub wait_for_runs
{
	my ($name) = @_;

	for my $round (1, 2)
	{
		my $began = $node->safe_psql('zabbix', 'SELECT clock_timestamp()');
		ok( $node->poll_query_until(
				'zabbix',
				"SELECT bool_and(begun_pid IS NULL AND last_run BETWEEN '$began' AND clock_timestamp()) FROM zbxhist.parent_state"
			),
			"$name: run $round");
	}
	return;
}

# The codes of check() but for notes, each with its object.
sub codes
{
	return $node->safe_psql('zabbix',
		"SELECT code, object FROM zbxhist.check() WHERE code <> 'partial_dump' ORDER BY 1, 2");
}

# ---- the clock is ahead ----

set_clock($ahead);
$node->adjust_conf('postgresql.conf', 'zbxhist.databases', "'zabbix'");
$node->reload;
wait_for_runs('ahead');
is_like_plain('while the clock is ahead');

# a Zabbix server with the same clock, and a proxy with the right one
write_both(
	"INSERT INTO history SELECT i, ${\ ($ahead + time)}, 1, 0 FROM generate_series(1, 10) i");
write_both("INSERT INTO history SELECT i, @{[ day(-2) ]} + 77, 1, 0 FROM generate_series(1, 10) i");

# the first values of a table that was empty
$node->safe_psql('zabbix',
	"INSERT INTO history_str SELECT i, @{[ day(-1) ]} + i, i, 0 FROM generate_series(1, 10) i");
wait_for_runs('ahead, with new values');
is_like_plain('with new values');
is(rows_of($node, 'zabbix', 'history_str'), 10, 'the first values of a table stay');
is( codes(),
	"deletion_stopped|public.history\ndeletion_stopped|public.history_str",
	'check() says that nothing is deleted');
like(
	$node->safe_psql(
		'zabbix',
		"SELECT hint FROM zbxhist.check() WHERE code = 'deletion_stopped' AND object = 'public.history'"
	),
	qr/\ASELECT zbxhist\.accept_deletion\('public\.history', until => '[-:\d ]+ UTC'\);\z/,
	'... and prints the call that agrees');

# ---- the clock is set back while the server runs ----

set_clock(0);
wait_for_runs('back');
is_like_plain('when the clock is right again');
is(codes(), "clocks_ahead|public.history", 'check() knows the values of the future');
my $times = $node->safe_psql('zabbix', <<'SQL');
SELECT string_agg(format('SELECT %L FROM %s WHERE %3$I > now() + interval ''1 hour''', format('%s.%s', k.relname, a.attname), k.oid::regclass, a.attname), ' UNION ')
  FROM pg_class k JOIN pg_attribute a ON a.attrelid = k.oid
 WHERE k.relnamespace = 'zbxhist'::regnamespace AND k.relkind = 'r' AND a.atttypid = 'timestamptz'::regtype
   AND k.relname <> 'maintenance_log'
SQL
is($node->safe_psql('zabbix', $times), '', 'no time of maintenance is in the future');
is( $node->safe_psql(
		'zabbix',
		"SELECT count(*) FROM zbxhist.parent_config WHERE deleted_until > extract(epoch FROM now() - retention)"
	),
	0,
	'and nothing was agreed to for later');

# what is stored now goes where it belongs, and late values are merged
write_both(
	"INSERT INTO history SELECT i, ${\ time} - s, 2, 0 FROM generate_series(1, 10) i, generate_series(0, 9) s"
);
write_both("INSERT INTO history SELECT i, @{[ day(-3) ]} + 77, 2, 0 FROM generate_series(1, 10) i");
$node->safe_psql('zabbix',
	"INSERT INTO $_ SELECT i, @{[ day(0) ]}, 60, 1, 2, 3 FROM generate_series(1, 10) i")
  for 'trends', 'plain_trends';
wait_for_runs('as ever');
is_like_plain('as ever');
is(rows_of($node, 'zabbix', 'ONLY history'), 0, 'no value waits');
is(rows_of($node, 'zabbix', 'ONLY trends'), 0, 'no value waits');

# what check() says deletes what is left of the future, and its partitions go
$node->safe_psql('zabbix', "SELECT hint FROM zbxhist.check() WHERE code = 'clocks_ahead' \\gexec");
$node->safe_psql('zabbix', "DELETE FROM plain WHERE clock > ${\ time} + 86400; VACUUM");
wait_for_runs('at the end');
is_like_plain('at the end');
is(codes(), '', 'check() has nothing to say');
is( $node->safe_psql(
		'zabbix',
		"SELECT count(*) FROM unnest(zbxhist_internal.parent_list()) p, zbxhist_internal.list_ranges(p) r WHERE r.from_clock > extract(epoch FROM now()) + 65 * 86400"
	),
	0,
	'no partition of that time is left');
$node->stop;
done_testing();
