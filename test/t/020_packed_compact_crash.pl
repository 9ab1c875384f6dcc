# The server is killed at random moments of compacting days, while their rows
# are deleted and inserted: afterwards each day is in its parts or is one, with
# the rows of a plain table that the same transactions wrote; no table is left
# over, and the next try succeeds.  ZBXHIST_ROUNDS=100 for more.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use Test::More;
use Time::HiRes qw(time sleep);
use ZbxhistTest;

my $rounds = $ENV{ZBXHIST_ROUNDS} // 8;
srand($ENV{ZBXHIST_SEED} // 1);

my $node = test_server('compact_crash', full_page_writes => 'on');
create_database($node, 'zabbix');
create_zabbix_tables($node, 'zabbix');

# days of six parts, with items that are not in each
$node->safe_psql(
	'zabbix', q{
	SELECT zbxhist.create_parent('history', '4 hours', retention => '200 years', pack_after => '1 hour');
	SELECT zbxhist.alter_parent('history', never_pack => true);
	CREATE TABLE plain (LIKE history INCLUDING ALL);
	CREATE PROCEDURE make_day(midnight integer) LANGUAGE plpgsql AS $$
	DECLARE
		p regclass;
	BEGIN
		PERFORM zbxhist_internal.create_range('history', c, c + 14400) FROM generate_series(midnight, midnight + 86399, 14400) c;
		INSERT INTO plain SELECT i, midnight + j * 60, i + j % 7 / 8.0, i * j FROM generate_series(1, 150) i, generate_series(0, 1439) j WHERE (i + j / 240) % 5 > 0;
		INSERT INTO history SELECT * FROM plain WHERE clock >= midnight;
		COMMIT;
		FOR p IN SELECT l.partition FROM zbxhist.list_partitions('history') l WHERE l.to_clock < 100000000 LOOP
			CALL zbxhist_internal.repeat_by_hand('history', 'pack', ARRAY[p]);
		END LOOP;
	END $$;
});

my $checksum = 'SELECT count(*) || \' \' || sum(hashtextextended(h::text, 0)::numeric)';

# What there is of a day: parts, and whether they cover it, with tables of their own and no others.
sub parts_of
{
	my ($midnight) = @_;

	return $node->safe_psql('zabbix',
		"SELECT count(*), sum(to_clock - from_clock), count(k.oid) FROM zbxhist.packed_day d LEFT JOIN pg_class k ON k.oid = d.day"
		  . " WHERE parent = 'history'::regclass AND from_clock BETWEEN $midnight AND $midnight + 86399"
	);
}

# how long it takes, undisturbed
my $midnight = 86400;
$node->safe_psql('zabbix', "CALL make_day($midnight)");
is(parts_of($midnight), '6|86400|6', 'a day of six parts');
my $began = time;
$node->safe_psql('zabbix', "CALL zbxhist.compact('history', '1970-01-02')");
my $takes = time - $began;
is(parts_of($midnight), '1|86400|1', '... is one');

my %seen;
for my $round (1 .. $rounds)
{
	$midnight += 86400;
	my $date = $node->safe_psql('zabbix', "SELECT date '1970-01-01' + $midnight / 86400");
	$node->safe_psql('zabbix', "CALL make_day($midnight)");

	# at once, later and later, the last ones as soon as it is done
	my $delay = $takes * 2 * ($round - 1) / $rounds;
	my $call = start_psql(
		$node, 'zabbix',
		$node->basedir . '/out',
		sub { print { $_[0] } "CALL zbxhist.compact('history', '$date');\n" });
	my $writer = start_psql(
		$node, 'zabbix',
		$node->basedir . '/out2',
		sub {
			my ($psql) = @_;

			for my $i (1 .. 40)
			{
				my $row = sprintf '(%d, %d, %d, %d)', 1000 + $i, $midnight + int rand 86400, $i,
				  $round;
				my $gone = sprintf 'itemid = %d AND clock BETWEEN %d AND %d', 1 + rand 150,
				  $midnight, $midnight + 300;

				print $psql "SELECT pg_sleep(0.01);\n",
				  "BEGIN; INSERT INTO history VALUES $row; INSERT INTO plain VALUES $row; COMMIT;\n";
				print $psql
				  "BEGIN; DELETE FROM history WHERE $gone; DELETE FROM plain WHERE $gone; COMMIT;\n"
				  if $i == 1 + $round % 40 && $round % 3 == 1 && $round < $rounds - 2;
			}
		});
	sleep $delay;
	$node->poll_query_until('zabbix',
		"SELECT count(*) = 1 FROM zbxhist.packed_day WHERE from_clock >= $midnight")
	  if $round > $rounds - 2;
	kill_server($node);
	wait_for_end($_) for $call, $writer;
	start_after_crash($node);

	my $state = parts_of($midnight);
	$seen{$state}++;
	like(
		$state,
		qr/^(?:6\|86400\|6|1\|86400\|1)$/,
		sprintf('killed after %.0f ms: %s', $delay * 1000, $state));
	is( $node->safe_psql('zabbix', "$checksum FROM history h"),
		$node->safe_psql('zabbix', "$checksum FROM plain h"),
		'... every row is there, once');
	is( $node->safe_psql(
			'zabbix',
			"SELECT count(*) FROM pg_class k WHERE k.relnamespace = 'zbxhist_packed'::regnamespace AND k.relkind = 'r'"
			  . ' AND NOT EXISTS (SELECT FROM zbxhist.packed_day d WHERE d.day = k.oid)'),
		0,
		'... and no table is left over');
	$node->safe_psql('zabbix', "CALL zbxhist.compact('history', '$date')") if $state =~ /^6/;
	is(parts_of($midnight), '1|86400|1', '... the next try succeeds');
}
ok(keys %seen > 1, 'killed before and after the swap');
maintain($node, 'zabbix');
is( $node->safe_psql('zabbix', "$checksum FROM history h"),
	$node->safe_psql('zabbix', "$checksum FROM plain h"),
	'in the end every row is there');
is($node->safe_psql('zabbix', "SELECT count(*) FROM zbxhist.verify('history')"),
	0, '... and all is whole');
log_is_clean($node);
$node->stop;
done_testing();
