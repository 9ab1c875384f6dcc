# HAProxy with dist/haproxy/haproxy.cfg, as docs/standbys.md has it: one port leads to the
# primary, the other to the standby, or to the primary as long as there is none, whichever
# server stops, starts or is promoted.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);
use ZbxhistTest;

# where Debian has it
local $ENV{PATH} = "$ENV{PATH}:/usr/sbin";
plan(skip_all => 'there is no HAProxy') if system('haproxy -v >/dev/null 2>&1') != 0;

my $primary = test_server('primary', -allows_streaming => 1);
create_database($primary, 'zabbix');
create_zabbix_tables($primary, 'zabbix');
$primary->safe_psql(
	'zabbix', qq{
	SELECT zbxhist.create_parent('history', '1 hour', retention => '90 days', pack_after => '1 hour');
	SELECT zbxhist_internal.create_range('history', ${\ day(-3)}, ${\ day(-2)});
	INSERT INTO history SELECT i, ${\ day(-3)} + 60 * j, i, j FROM generate_series(1, 10) i, generate_series(1, 100) j;
	CALL zbxhist.pack('history', '${\ date(-3)}');
	INSERT INTO history SELECT i, extract(epoch FROM now()), i, 0 FROM generate_series(1, 10) i;
	CREATE ROLE haproxy LOGIN;
});
$primary->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'backup', has_streaming => 1);
$standby->start;

# ---- HAProxy, with sockets for addresses ----

my $place = PostgreSQL::Test::Utils::tempdir_short();
my $configuration = slurp_file("$FindBin::RealBin/../../dist/haproxy/haproxy.cfg");
my %socket_of = (
	db1 => $primary->host . '/.s.PGSQL.' . $primary->port,
	db2 => $standby->host . '/.s.PGSQL.' . $standby->port);

is($configuration =~ s/ (db[12]):5432 / unix\@$socket_of{$1} /g,
	4, 'each server is asked for both ports');
is($configuration =~ s/bind :(\d+)$/bind unix\@$place\/.s.PGSQL.$1/gm, 2, 'there are two ports');
$configuration =~ s/inter 2s/inter 200ms/;
append_to_file("$place/haproxy.cfg", $configuration);
my $proxy =
  IPC::Run::start([ 'haproxy', '-db', '-f', "$place/haproxy.cfg" ], '>', "$place/log", '2>&1');

# The server that a new session of a port comes to, or nothing.
sub arrives_at
{
	my ($port) = @_;
	my ($out, $err);

	IPC::Run::run(
		[
			'psql', '-XAtq', '-h', $place, '-p', $port, '-d', 'zabbix', '-c',
			"SELECT current_setting('cluster_name') WHERE (SELECT count(*) FROM history) = 1010"
		],
		'>',
		\$out,
		'2>',
		\$err);
	chomp $out;
	return $out;
}

# After some moments, sessions come where they should.
sub is_led
{
	my ($writes, $reads, $name) = @_;
	my @found;

	for (1 .. 300)
	{
		@found = map { arrives_at($_) } 5000, 5001;
		last if "@found" eq "$writes $reads";
		sleep 0.2;
	}
	is("@found", "$writes $reads", $name);
}

is_led('primary', 'standby', 'writes go to the primary, reads to the standby');
$standby->stop('fast');
is_led('primary', 'primary', 'reads to the primary, where there is no other');
$standby->start;
is_led('primary', 'standby', 'reads to the standby again');
$primary->stop('immediate');
is_led('', 'standby', 'reads go on while the primary is away, writes do not');
$standby->promote;
is_led('standby', 'standby', 'writes go to the one that is promoted');

$proxy->kill_kill;
$standby->stop;
done_testing();
