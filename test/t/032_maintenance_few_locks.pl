# The server's lock table is as small as CREATE EXTENSION allows, which needs a
# lock for each object with a comment.  Set-up, many partitions ahead,
# maintenance, queries of hundreds of packed days, retention and undo do not
# exhaust it:  INSERTs go on, and the queries return their rows.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes ();
use ZbxhistTest;

my $days = $ENV{ZBXHIST_DAYS} // 400;

my $node = test_server('few_locks', max_locks_per_transaction => 10, max_connections => 40);
create_database($node, 'zabbix');
create_zabbix_tables($node, 'zabbix');

# A session that stores values in all tables until it is told to stop.
my $stop = $node->basedir . '/stop';
my %form = (
	history => 'itemid, clock, ns',
	history_uint => 'itemid, clock, ns',
	history_str => 'itemid, clock, ns',
	history_text => 'itemid, clock, ns',
	history_log => 'itemid, clock, ns',
	trends => 'itemid, clock, num');
my $inserter = in_background(
	$node, 'zabbix',
	'inserter',
	0, 1,
	sub {
		my ($client, $counts) = @_;

		$counts->{n} //= 0;
		for my $table (sort keys %form)
		{
			my $clock = day(0) + $counts->{n};
			my $result = $client->query("INSERT INTO $table ($form{$table}) VALUES "
				  . join(',', map { "($_, $clock, 1)" } 1 .. 5));

			$counts->{ $result->{errors}[0] . " $table: $result->{messages}[0]" }++
			  if @{ $result->{errors} };
		}
		$counts->{n}++;
		Time::HiRes::sleep(0.02);
	},
	sub { -e $stop });

sub done_without_error
{
	my ($name, @sql) = @_;
	my ($code, $out, $err) =
	  psql_script($node, 'zabbix', join("\n", @sql), '-q', '-v', 'ON_ERROR_STOP=1');

	is("$code $err", '0 ', $name);
	return $out;
}

# ---- many partitions ahead ----

done_without_error(
	'setup',
	'SET client_min_messages = warning;',
	"SELECT count(*) FROM zbxhist.setup('public', '200 years', '200 years', premake => 60);");
done_without_error('maintenance', "CALL zbxhist.run_maintenance('$_');")
  for qw(history history_uint);
cmp_ok($node->safe_psql('zabbix', "SELECT count(*) FROM zbxhist.list_partitions('history')"),
	'>', 60, 'there are many partitions');
is(done_without_error('a query of all', 'SELECT count(*) > 0 FROM history;'), 't',
	'rows are found');

# ---- hundreds of packed days ----

for (my $day = 1; $day <= $days; $day += 20)
{
	my $last = $day + 19;

	done_without_error(
		"days $day to $last",
		'SET client_min_messages = warning;',
		(   map {
					"SELECT zbxhist.create_partition('history', date '1970-01-01' + $_);"
				  . "INSERT INTO history SELECT i, $_ * 86400, $_, 0 FROM generate_series(1, 10) i;"
			} $day .. $last),
		(   map {
				"SELECT format('CALL zbxhist.pack(%L, %L)', 'history', date '1970-01-01' + $_) \\gexec"
			} $day .. $last));
}
is($node->safe_psql('zabbix', "SELECT count(*) FROM zbxhist.packed_day"), $days, 'they are packed');
my $end = ($days + 1) * 86400;
my $sum = 10 * $days * ($days + 1) / 2;

# a scan in the order of the key keeps two locks of each day, so it reads half of them
my $half = int($days / 2);
for (
	[ "SELECT sum(value) FROM history WHERE clock < $end", $sum ],
	[
		"SELECT sum(value) FROM (SELECT value FROM history WHERE clock < ${\ (($half + 1) * 86400)} ORDER BY itemid, clock) h",
		10 * $half * ($half + 1) / 2
	],
	[
		"SELECT sum(value) FROM (SELECT (zbxhist.range(NULL::history, i, 0, $end)).value FROM generate_series(1, 10) i) h",
		$sum
	])
{
	is(done_without_error('a query of all packed days', "$_->[0];"), $_->[1], $_->[0]);
}
is( done_without_error(
		'in a transaction',
		'BEGIN ISOLATION LEVEL REPEATABLE READ;',
		"SELECT sum(value) FROM history WHERE clock < $end;",
		'SELECT pg_sleep(1);',
		"SELECT sum(value) FROM history WHERE clock < $end;",
		'COMMIT;'),
	"$sum\n\n$sum",
	'with locks that are held');
is( done_without_error(
		'the newest',
		"SELECT value FROM history WHERE itemid = 3 AND clock < $end ORDER BY clock DESC LIMIT 2;"),
	"$days\n" . ($days - 1),
	'the newest values');

# of days that are changed the locks have to stay
done_without_error('DELETE', 'DELETE FROM history WHERE itemid = 3 AND clock < 86400 * 50;');
done_without_error('UPDATE',
	'UPDATE history SET value = 0 WHERE itemid = 4 AND clock < 86400 * 50;');
done_without_error('views',
		'SELECT count(*) FROM zbxhist.check(); SELECT count(*) FROM zbxhist.partitions;'
	  . ' SELECT count(*) FROM zbxhist.status; SELECT count(*) FROM zbxhist.preview(); SELECT count(*) FROM zbxhist.verify(\'history\');'
);

# ---- retention, and the way back ----

done_without_error(
	'alter_parent',
	'SET client_min_messages = warning;',
	"SELECT zbxhist.alter_parent('history', retention => '30 years', accept_deletion => true, never_pack => true);"
);
done_without_error('retention', "CALL zbxhist.run_maintenance('history');");
is($node->safe_psql('zabbix', 'SELECT count(*) FROM zbxhist.packed_day'), 0, 'days are dropped');
done_without_error(
	'undo',
	'SET client_min_messages = warning;',
	"CALL zbxhist.undo('history');",
	"CALL zbxhist.undo('trends');");

append_to_file($stop, '');
waitpid($inserter, 0);
like(outcome_of($node, 'inserter'), qr/\An \d+\nrounds \d+\n\z/, 'no INSERT has failed');
is( $node->safe_psql('zabbix', 'SELECT count(*) FROM history_uint'),
	5 * (outcome_of($node, 'inserter') =~ /^n (\d+)/)[0],
	'all values are there');

ok(slurp_file($node->logfile) !~ /out of shared memory/, 'no lock was missing');
log_is_clean($node);
$node->stop;
done_testing();
