# Reads of one item over many packed days that are not in shared buffers ask
# for pages of further days, and give the same rows as others.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use Digest::MD5 qw(md5_hex);
use Test::More;
use ZbxhistTest;

my $ndays = 20;
my $node = test_server('packed_prefetch');
create_database($node, 'zabbix');
set_up($node, 'zabbix');
$node->safe_psql('zabbix', <<'SQL');
CREATE TABLE many (itemid bigint NOT NULL, clock integer NOT NULL, value double precision,
	PRIMARY KEY (itemid, clock));
SELECT zbxhist.create_parent('many');
SQL
for my $n (1 .. $ndays)
{
	my $day = date(-$n);

	# an item has more than a page of rows that cannot be compressed
	$node->safe_psql('zabbix', <<"SQL");
SELECT zbxhist.create_partition('many', '$day');
INSERT INTO many SELECT i, ${\ day(-$n) } + c, random()
	FROM generate_series(1, 5) i, generate_series(0, 2999) c;
CALL zbxhist.pack('many', '$day');
SQL
}
$node->safe_psql('zabbix', 'VACUUM');

my $first = day(-$ndays) + 100;
my $sql = "SELECT clock, value FROM many WHERE itemid = 3 AND clock >= $first";
my %reads = (
	ascending => "$sql ORDER BY clock",
	descending => "$sql ORDER BY clock DESC",
	'five days' => "$sql ORDER BY clock DESC LIMIT 14000",
	range => "SELECT clock, value FROM zbxhist.range(NULL::many, 3, $first, 2147483647)");

# Returns the rows and how often the days' indexes were looked at.
sub read_days
{
	my ($read, $concurrency, $settings) = @_;
	my $index_scans =
	  'SELECT sum(idx_scan) FROM pg_stat_all_indexes' . " WHERE schemaname = 'zbxhist_packed'";
	my @lines = split /\n/,
	  $node->safe_psql(
		'zabbix', join ";\n",
		"SET effective_io_concurrency = $concurrency",
		$settings // (),
		$index_scans, $reads{$read}, 'SELECT pg_stat_force_next_flush()', $index_scans);
	my ($before, $after) = (shift @lines, pop @lines);

	pop @lines;
	return (join("\n", @lines), $after - $before);
}

for my $read (sort keys %reads)
{
	read_days($read, 0);
	my ($expected, $warm) = read_days($read, 0);

	for my $concurrency (0, 1, 8, 200)
	{
		$node->restart;
		my ($rows, $scans) = read_days($read, $concurrency);

		is(md5_hex($rows), md5_hex($expected),
			"$read: the same rows with effective_io_concurrency = $concurrency");
		ok( $concurrency > 0 ? $scans > $warm : $scans == $warm,
			$concurrency > 0
			? '... and days were looked at before'
			: '... and no day was looked at before');
		($rows, $scans) = read_days($read, $concurrency);
		is($scans, $warm, '... nor when they are in shared buffers');
	}
}

# a day that somebody has locked is not waited for before it is reached
$node->restart;
my $locked = 'zbxhist_packed.' . partition('many', -10);
my $locker = $node->background_psql('zabbix');
$locker->query_safe("BEGIN; LOCK TABLE $locked");
my ($rows, $scans) = read_days('five days', 8, "SET enable_sort = off; SET lock_timeout = '60s'");
is(scalar(split /\n/, $rows), 14000, 'a locked day is passed over');
ok($scans > 12, '... by a read that asks for days beyond it');
$locker->query_safe('COMMIT');
$locker->quit;

log_is_clean($node);
$node->stop;
done_testing();
