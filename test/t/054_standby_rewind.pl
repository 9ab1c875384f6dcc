# A primary that went on after its standby was promoted comes back by
# pg_rewind, with packed days, whose pages bypass shared buffers, and changes
# of both sides.  Only the changes of the new primary are left.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

my $former = test_server(
	'former',
	-allows_streaming => 1,
	wal_log_hints => 'on',
	wal_keep_size => '1GB',
	max_wal_senders => '5');
create_database($former, 'zabbix');
create_zabbix_tables($former, 'zabbix');
$former->safe_psql('zabbix',
	"SELECT zbxhist.create_parent('history', '1 hour', retention => '200 years', pack_after => '1 hour')"
);
$former->safe_psql('zabbix', 'CREATE TABLE plain (LIKE history)');

# The values of a day, in a partition and in the plain table.
sub store
{
	my ($node, $day, $salt) = @_;
	my $from = day($day);

	$node->safe_psql(
		'zabbix', qq{
		SELECT zbxhist_internal.create_range('history', $from, $from + 86400);
		INSERT INTO history SELECT i, $from + j * 60, i + j % $salt / 8.0, i * j FROM generate_series(1, 60) i, generate_series(0, 1439) j;
		INSERT INTO plain SELECT i, $from + j * 60, i + j % $salt / 8.0, i * j FROM generate_series(1, 60) i, generate_series(0, 1439) j;
	});
}

sub call
{
	my ($node, $what, $day) = @_;

	$node->safe_psql('zabbix', "CALL zbxhist.$what('history', '${\ date($day)}')");
}

# The same rows of a plain table, stored in pages as they should be.
sub is_whole
{
	my ($node, $name) = @_;

	is( totals($node, 'zabbix', 'history'),
		totals($node, 'zabbix', 'plain'),
		"$name: all rows, and no others");
	is($node->safe_psql('zabbix', "SELECT count(*) FROM zbxhist.verify('history')"),
		0, '... packed days are whole');
}

store($former, $_, 7) for -8 .. -5;
call($former, 'pack', $_) for -8, -7;
$former->backup('backup');
my $next = PostgreSQL::Test::Cluster->new('next');
$next->init_from_backup($former, 'backup', has_streaming => 1);
$next->start;
call($former, 'pack', -6);
$former->wait_for_catchup($next);

# ---- they part ----

$next->promote;

# before 16 pg_rewind knows the new timeline by the checkpoint after it only
$next->safe_psql('postgres', 'CHECKPOINT');
for my $case ([ $former, 5, 'former' ], [ $next, 3, 'next' ])
{
	my ($node, $salt, $name) = @$case;
	my $other = $name eq 'former' ? -8 : -7;

	# a day that is new, one packed, one written anew, changed, unpacked, or gone
	store($node, -4, $salt);
	call($node, 'pack', -5);
	call($node, 'pack', -4);
	$node->safe_psql('zabbix',
		"UPDATE $_ SET value = $salt WHERE itemid = $salt AND clock < ${\ day(-5)}")
	  for qw(history plain);
	call($node, 'repack', -6);
	call($node, $name eq 'former' ? 'unpack' : 'repack', $other);
	$node->safe_psql('zabbix',
		"INSERT INTO $_ SELECT i, ${\ day(0)} + $salt, i, $salt FROM generate_series(1, 500) i")
	  for qw(history plain);
	is_whole($node, $name);
}
call($former, 'drop_day', -7);
isnt(totals($former, 'zabbix', 'history'), totals($next, 'zabbix', 'history'), 'they have parted');

# ---- and one comes back ----

for my $how ('fast', 'immediate')
{
	my $settings = slurp_file($former->data_dir . '/postgresql.conf');

	$former->stop($how);
	$former->start, $former->stop if $how eq 'immediate';
	command_ok(
		[
			$former->installed_command('pg_rewind'), '--target-pgdata',
			$former->data_dir, '--source-server',
			$next->connstr('postgres')
		],
		"pg_rewind after it was stopped ($how)");

	# its own configuration again
	open(my $file, '>', $former->data_dir . '/postgresql.conf') or die "postgresql.conf: $!";
	print $file $settings;
	close $file or die "postgresql.conf: $!";
	$former->enable_streaming($next);
	$former->set_standby_mode;
	$former->start;
	$next->wait_for_catchup($former->name);
	is_whole($former, 'as a standby');
	is_same(
		$next, $former, 'zabbix',
		'SELECT count(*), sum(hashtextextended(h::text, 0)::numeric) FROM history h',
		'... as the new primary has them');
	last if $how eq 'immediate';

	# it parts once more: promoted while the other one goes on
	$former->promote;
	store($former, -3, 11);
	call($former, 'pack', -3);
	store($next, -2, 13);
	call($next, 'pack', -2);
}

# it takes over, and goes on
$next->stop;
$former->promote;
maintain($former, 'zabbix');
is_whole($former, 'as a primary again');
is($former->safe_psql('zabbix', "SELECT count(*) FROM zbxhist.check() WHERE severity <> 'info'"),
	0, '... all is well');

log_is_clean($_) for $former, $next;
$former->stop;
done_testing();
