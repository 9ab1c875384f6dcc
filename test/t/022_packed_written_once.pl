# The pages of a packed day are written once, bypassing shared buffers: a
# checkpoint has nothing to write, VACUUM has nothing to change, and after a
# crash or a checkpoint in between all rows are there, at any wal_level.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

my @needed = qw(pg_buffercache pg_visibility amcheck);
my $day = date(-1);
my $checksum = 'SELECT count(*), sum(hashtextextended(h::text, 0)::numeric) FROM history h';

# The pages of the packed tables of history and of their visibility maps that a
# checkpoint has to write.
sub dirty_pages
{
	my ($node) = @_;

	return $node->safe_psql(
		'zabbix', q{
		SELECT count(*) FROM pg_buffercache b
		  JOIN zbxhist.packed_day d ON b.relfilenode = pg_relation_filenode(d.day)
		 WHERE b.isdirty AND b.relforknumber IN (0, 2)
		   AND b.reldatabase = (SELECT oid FROM pg_database WHERE datname = current_database())
	});
}

# The packed tables of history: whether they have pages, all of which everybody sees, as
# the visibility map says, and how many mistakes are in them.
sub state_of_pages
{
	my ($node) = @_;

	return $node->safe_psql(
		'zabbix', q{
		SELECT count(*), bool_and(s.all_visible = n.blocks AND s.all_frozen = n.blocks AND n.blocks > 10),
		       sum((SELECT count(*) FROM pg_check_visible(d.day)) + (SELECT count(*) FROM pg_check_frozen(d.day))
		           + (SELECT count(*) FROM verify_heapam(d.day)))
		  FROM zbxhist.packed_day d, pg_visibility_map_summary(d.day) s,
		       LATERAL (SELECT pg_relation_size(d.day) / current_setting('block_size')::integer AS blocks) n
		 WHERE d.parent = 'history'::regclass
	});
}

# Yesterday's rows of 60 items, of which each has its own times, then its values: of
# some hundred kB.
my $rows = <<~SQL;
	INSERT INTO history
	SELECT i, ${\ day(-1)} + j * 60 + i % 60, hashint4(i * j) / 8.0, abs(hashint4(i + j))
	  FROM generate_series(1, 60) i, generate_series(0, 1439) j
	SQL

for my $level (qw(minimal replica))
{
	my $node = test_server(
		"level_$level",
		-extra => ['--data-checksums'],
		wal_level => $level,

		# or, with "minimal", PostgreSQL logs small tables when they are done, and
		# has them in its buffers for that
		wal_skip_threshold => 0,
		max_wal_senders => 0,
		full_page_writes => 'on',
		autovacuum => 'off',
		checkpoint_timeout => '1h');

	create_database($node, 'zabbix');
	if (grep { !has_extension($node, $_) } @needed)
	{
		$node->stop;
		plan skip_all => "without @needed";
	}
	$node->safe_psql('zabbix', "CREATE EXTENSION $_") for @needed;
	set_up($node, 'zabbix');
	$node->safe_psql('zabbix', $rows);
	my $expected = $node->safe_psql('zabbix', $checksum);

	$node->safe_psql('zabbix', 'CHECKPOINT');
	$node->safe_psql('zabbix', "CALL zbxhist.pack('history', '$day')");
	is(dirty_pages($node), 0, "$level: packing leaves no page to be written");
	is(state_of_pages($node), '1|t|0', '... all are visible to all, and as they should be');
	kill_server($node);
	start_after_crash($node);
	is(state_of_pages($node), '1|t|0', '... after a crash, too');
	is($node->safe_psql('zabbix', $checksum), $expected, '... with all rows');

	$node->safe_psql('zabbix', 'CHECKPOINT');
	$node->safe_psql('zabbix', 'VACUUM (FREEZE) zbxhist_packed.' . partition('history', -1));
	is(dirty_pages($node), 0, '... and VACUUM changes none');

	# another file, with checkpoints all the while
	my $done = $node->basedir . '/done';
	my $checkpoints = start_psql(
		$node, 'zabbix',
		$node->basedir . '/out',
		sub {
			my ($psql) = @_;

			print $psql "CHECKPOINT;\n" or last until -e $done;
		});
	$node->safe_psql('zabbix', "CALL zbxhist.repack('history', '$day')") for 1 .. 5;
	append_to_file($done, '');
	wait_for_end($checkpoints);
	is(dirty_pages($node), 0, '... nor does repacking leave any');
	kill_server($node);
	start_after_crash($node);
	is($node->safe_psql('zabbix', $checksum), $expected, '... with all rows');
	is(state_of_pages($node), '1|t|0', '... as they should be');
	is($node->safe_psql('zabbix', "SELECT count(*) FROM zbxhist.verify('history')"),
		0, '... and whole');
	log_is_clean($node);
	$node->stop;
}
done_testing();
