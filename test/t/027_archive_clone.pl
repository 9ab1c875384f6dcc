# Copies of a database, clones of its server, and restores of an earlier moment
# read the days that the original has archived.  None removes anything that
# another needs.  A server that has replaced another is told so, and then
# removes what that has left over.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

my $node = test_server(
	'first',
	-has_archiving => 1,
	-allows_streaming => 1,
	autovacuum => 'off',
	synchronous_commit => 'off',
	session_preload_libraries => 'zbxhist');
plan skip_all => 'postgres_fdw is not installed' unless has_extension($node, 'postgres_fdw');
create_database($node, 'zabbix');
create_zabbix_tables($node, 'zabbix');
my $cold = add_archive_server($node, 'zabbix', 'cold');
create_packed_history($node, 'zabbix',
	'i, :from + j * 600, i * j, j FROM generate_series(1, 20) i, generate_series(0, 143) j',
	9, 8, 7, 6, 5);
$node->safe_psql('zabbix', "SELECT zbxhist.alter_parent('history', archive_server => 'cold')");

sub archive
{
	my ($server, $database, $ago) = @_;

	$server->safe_psql($database, "CALL zbxhist.archive('history', '${\ date(-$ago)}')");
}

sub drop_day
{
	my ($server, $database, $ago) = @_;

	$server->safe_psql(
		$database, qq{
		CALL zbxhist.drop_day('history', '${\ date(-$ago)}');
		DELETE FROM plain WHERE clock >= ${\ day(-$ago)} AND clock < ${\ day(1 - $ago)};
	});
}

# A day goes by.
sub a_day_later
{
	my ($server, $database) = @_;

	$server->safe_psql($database,
		"UPDATE zbxhist.archive_copy SET left_at = left_at - interval '2 days'");
	maintain($server, $database);
}

# How many copies are there.
sub copies_there
{
	return $cold->safe_psql('cold',
		'SELECT count(DISTINCT copy) FROM zbxhist_archive.packed_group WHERE number > 0');
}

sub is_whole
{
	my ($server, $database, $name) = @_;

	is($server->safe_psql($database, 'SELECT count(*) FROM difference'), 0, $name);
}

# Whether check() says that the archive is another's, and with which command.
sub is_told
{
	my ($server, $database, $is_told, $name) = @_;

	is( $server->safe_psql(
			$database,
			"SELECT DISTINCT hint FROM zbxhist.check() WHERE code = 'archive_of_another'"),
		$is_told ? "SELECT zbxhist.alter_parent('public.history', take_archive => true);" : '',
		$name);
}

sub take_archive
{
	my ($server, $database) = @_;

	$server->safe_psql($database, "SELECT zbxhist.alter_parent('history', take_archive => true)");
}

archive($node, 'zabbix', 9);
archive($node, 'zabbix', 8);
maintain($node, 'zabbix');
is(copies_there(), 2, 'two days are archived');

# ---- a copy of the database ----

$node->safe_psql('postgres', 'CREATE DATABASE copy TEMPLATE zabbix');
is_whole($node, 'copy', 'a copy of the database reads the archive');
is_told($node, 'copy', 1, '... and says whose it is');
drop_day($node, 'copy', 9);
$node->safe_psql('copy', "CALL zbxhist.unarchive('history', '${\ date(-8)}')");
maintain($node, 'copy');
a_day_later($node, 'copy');
is(copies_there(), 2, 'what it drops and brings back stays there');
archive($node, 'copy', 8);
is(copies_there(), 3, 'what it archives is its own');
drop_day($node, 'copy', 8);
maintain($node, 'copy');
a_day_later($node, 'copy');
is(copies_there(), 2, '... and removed when it drops that');
is_whole($node, 'copy', 'all that it has is there');
is_whole($node, 'zabbix', 'and all of the first');
is_told($node, 'zabbix', 0, '... to which nothing is told');

# both take days away when the first is told to be gone, but is not
take_archive($node, 'copy');
is_told($node, 'copy', 0, 'a copy takes the place of the first');
maintain($node, 'zabbix');
is_told($node, 'zabbix', 1, '... which is told');
take_archive($node, 'zabbix');
is_told($node, 'zabbix', 0, '... and takes it back');
maintain($node, 'copy');
is_told($node, 'copy', 1, '... so that the copy has it no more');
$node->safe_psql('postgres', 'DROP DATABASE copy');
maintain($node, 'zabbix');

# ---- a clone of the server ----

$node->backup('base');
my $clone = PostgreSQL::Test::Cluster->new('clone');
$clone->init_from_backup($node, 'base');
$clone->append_conf('postgresql.conf', 'archive_mode = off');
$clone->start;
is_whole($clone, 'zabbix', 'a clone of the server reads the archive');
maintain($clone, 'zabbix');
drop_day($clone, 'zabbix', 9);
maintain($clone, 'zabbix');
is_told($clone, 'zabbix', 0, 'which it cannot know to be another\'s');
maintain($node, 'zabbix');
is_told($node, 'zabbix', 1, 'its original is told');
a_day_later($clone, 'zabbix');
is_told($clone, 'zabbix', 1, '... and then it is');
is(copies_there(), 2, 'nothing is removed');
is_whole($clone, 'zabbix', 'all that the clone has is there');
is_whole($node, 'zabbix', '... and all that the original has');

drop_day($node, 'zabbix', 9);
maintain($node, 'zabbix');
a_day_later($node, 'zabbix');
is(copies_there(), 2, 'nor does the original remove anything');
take_archive($node, 'zabbix');
maintain($node, 'zabbix');
is(copies_there(), 2, '... nor at once when it is told to');
a_day_later($node, 'zabbix');
is_told($node, 'zabbix', 0, 'until it is told that the archive is its own');
is(copies_there(), 1, '... which removes what it has dropped');
a_day_later($clone, 'zabbix');
is_told($clone, 'zabbix', 1, 'and does not make it the clone\'s');
$clone->stop;

# a clone that begins after its original has been there changes nothing
maintain($node, 'zabbix');
$clone->start;
drop_day($clone, 'zabbix', 8);
maintain($clone, 'zabbix');
a_day_later($clone, 'zabbix');
maintain($node, 'zabbix');
is_told($node, 'zabbix', 0, 'a clone that has lost it before changes nothing');
is(copies_there(), 1, '... nor removes anything');
$clone->stop;

# what is being copied is not gone on with by both
my $session = $node->background_psql('zabbix', on_error_stop => 0);
$session->query(
	"SELECT zbxhist_internal.run_by_hand('history', 'archive', (SELECT day FROM zbxhist.packed_day WHERE from_clock = ${\ day(-7)}))"
) for 1 .. 2;
$session->quit;
is(copies_there(), 2, 'a day is being copied');
$node->backup('midway');
my $midway = PostgreSQL::Test::Cluster->new('midway');
$midway->init_from_backup($node, 'midway');
$midway->append_conf('postgresql.conf', 'archive_mode = off');
$midway->start;
archive($node, 'zabbix', 7);
archive($midway, 'zabbix', 7);
is(copies_there(), 3, 'a clone of that time makes a copy of its own');
maintain($midway, 'zabbix');
maintain($node, 'zabbix');
a_day_later($midway, 'zabbix');
is_whole($midway, 'zabbix', '... which it reads');
is_whole($node, 'zabbix', '... and the original its own');
$midway->stop;
take_archive($node, 'zabbix');
a_day_later($node, 'zabbix');
is(copies_there(), 2, 'what a clone has made goes when the original has the archive');
is_whole($node, 'zabbix', '... and nothing else does');

# ---- an earlier moment ----

$node->backup('earlier');
$node->safe_psql('zabbix', "SELECT pg_create_restore_point('then')");
archive($node, 'zabbix', 6);
archive($node, 'zabbix', 5);
$node->safe_psql('zabbix', "CALL zbxhist.unarchive('history', '${\ date(-8)}')");
maintain($node, 'zabbix');
$node->safe_psql('zabbix', 'SELECT pg_switch_wal()');
my $restored = PostgreSQL::Test::Cluster->new('restored');
$restored->init_from_backup($node, 'earlier', has_restoring => 1, standby => 0);
$restored->append_conf('postgresql.conf',
	"recovery_target_name = 'then'\nrecovery_target_action = 'promote'\narchive_mode = off");
$restored->start;
$restored->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()');
is_whole($restored, 'zabbix', 'what is restored reads the archive');
maintain($restored, 'zabbix');
is_told($restored, 'zabbix', 1, '... which has been used since');
maintain($node, 'zabbix');
is_told($node, 'zabbix', 0, '... by one that is not in its way');
is_whole($node, 'zabbix', '... and has all');
$node->stop;
is(copies_there(), 4, 'two days were archived later');
take_archive($restored, 'zabbix');
is_told($restored, 'zabbix', 0, 'it takes the place of what it was later');
maintain($restored, 'zabbix');
is(copies_there(), 4, 'of which nothing is removed at once');
a_day_later($restored, 'zabbix');
is(copies_there(), 2, '... but a day later what it does not know');
is_whole($restored, 'zabbix', 'what it knows is there');
archive($restored, 'zabbix', 6);
is_whole($restored, 'zabbix', 'and the day is archived again');
is($restored->safe_psql('zabbix', "SELECT count(*) FROM zbxhist.verify('history')"),
	0, 'nothing is damaged');
log_is_clean($restored);

done_testing();
