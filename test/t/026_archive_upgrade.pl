# pg_upgrade with archived days: they are read as before.  Nothing of them is
# removed from the archive server until somebody tells the new server that it
# replaces the old one.  Upgrades from the server of the environment variable
# "oldinstall", as 058_upgrade_postgresql.pl.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

# the same on both sides, whatever the defaults of a version are
my @initdb = ('--locale', 'C', '--encoding', 'UTF8');
my $old = test_server(
	'old', $ENV{oldinstall} ? (-install_path => $ENV{oldinstall}) : (),
	-extra => [@initdb],
	shared_preload_libraries => 'zbxhist');
plan skip_all => 'postgres_fdw is not installed' unless has_extension($old, 'postgres_fdw');

create_database($old, 'zabbix');
create_zabbix_tables($old, 'zabbix');
my $cold = add_archive_server($old, 'zabbix', 'cold');
$old->safe_psql('zabbix',
	"SELECT zbxhist.create_parent('history', '1 day', retention => '200 years', pack_after => '1 day')"
);
$old->safe_psql(
	'zabbix', qq{
	SELECT zbxhist.create_partition('history', '${\ date($_)}');
	INSERT INTO history SELECT i, ${\ day($_)} + j * 600, i * j, j FROM generate_series(1, 20) i, generate_series(0, 143) j;
	CALL zbxhist.pack('history', '${\ date($_)}');
}) for -9 .. -7;
$old->safe_psql(
	'zabbix', qq{
	SELECT zbxhist.alter_parent('history', archive_server => 'cold');
	CALL zbxhist.archive('history', '${\ date(-9)}');
	CALL zbxhist.archive('history', '${\ date(-8)}');
});
my $state = join ';',
  'SELECT count(*), sum(value), sum(hashtextextended(h::text, 0)::numeric) FROM history h',
  'SELECT partition, state, rows FROM zbxhist.partitions',
  'SELECT copy, day, server, groups, origin, state, copied, bytes FROM zbxhist.archive_copy ORDER BY 1',
  "SELECT count(*) FROM zbxhist.verify('history')";
my $before = $old->safe_psql('zabbix', $state);
$old->stop;

my $new = PostgreSQL::Test::Cluster->new('new');
$new->init(
	extra => [
		@initdb,

		# a data directory of its own, whose system identifier differs
		'--no-instructions',
		$new->pg_version >= 18 && $old->pg_version < 18 ? '--no-data-checksums' : ()
	]);
$new->append_conf('postgresql.conf',
	qq{shared_preload_libraries = 'zbxhist'\nsearch_path = '$search_path'});
upgrade_server($old, $new);
$new->start;
is($new->safe_psql('zabbix', $state), $before, 'archived days are read');
is( $new->safe_psql('zabbix', "SELECT hint FROM zbxhist.check() WHERE code ~ 'archive'"),
	"SELECT zbxhist.alter_parent('public.history', take_archive => true);",
	'check() says what is to be done');

# Maintenance, when what nothing needs has been left for a day.
sub groups_after_maintenance
{
	$new->safe_psql(
		'zabbix', q{
		CALL zbxhist.run_maintenance();
		UPDATE zbxhist.archive_copy SET left_at = left_at - interval '2 days';
		CALL zbxhist.run_maintenance();
	});
	return $cold->safe_psql('cold',
		'SELECT count(DISTINCT copy) FROM zbxhist_archive.packed_group WHERE number > 0');
}

$new->safe_psql('zabbix', "CALL zbxhist.drop_day('history', '${\ date(-9)}')");
is(groups_after_maintenance(), 2, 'until then nothing is removed there');
$new->safe_psql('zabbix', "SELECT zbxhist.alter_parent('history', take_archive => true)");
is(groups_after_maintenance(), 1, 'then it is');
is($new->safe_psql('zabbix', "SELECT count(*) FROM zbxhist.check() WHERE code ~ 'archive'"),
	0, 'nothing is left to be done');
is( $new->safe_psql('zabbix', 'SELECT count(*) FROM history'),
	2 * 20 * 144,
	'the other days are there');
$new->safe_psql('zabbix', "CALL zbxhist.unarchive('history', '${\ date(-8)}')");
is(groups_after_maintenance(), 0, 'and come back');
is($new->safe_psql('zabbix', 'SELECT count(*) FROM history'), 2 * 20 * 144, '... whole');
log_is_clean($new);

done_testing();
