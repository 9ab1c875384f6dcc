# scripts/report, export and progress, run by root from a clone in a directory that nobody
# else can enter: they connect as the owner of the database, or as the role of --user.
#
#     ZBXHIST_BIN=DIRECTORY prove test/scripts/as_root.pl
#
# As root, with the programs of a PostgreSQL that has the extension in DIRECTORY.
use strict;
use warnings;

use Cwd ();
use File::Temp ();
use FindBin;
use Test::More;

my $SCRIPTS = Cwd::abs_path("$FindBin::RealBin/../../scripts");
my $BIN = $ENV{ZBXHIST_BIN};
my $ctl;

plan skip_all => 'root only' if $>;
plan skip_all => 'ZBXHIST_BIN is not set' if !$BIN;
plan skip_all => 'there are no users postgres and nobody'
  if !defined getpwnam('postgres') || !defined getpwnam('nobody');

my $base = File::Temp::tempdir(
	'zbxhist-root.XXXXXX',
	DIR => '/var/tmp',
	CLEANUP => 1);
chmod 0755, $base;
mkdir "$base/server";
chown((getpwnam('postgres'))[ 2, 3 ], "$base/server");
mkdir "$base/root", 0700;
system('cp', '-a', $SCRIPTS, "$base/root/scripts") == 0 or die 'cp failed';
chdir "$base/root";
$ENV{PATH} = "$BIN:$ENV{PATH}";
$ENV{PGHOST} = "$base/server";
delete @ENV{qw(PGUSER PGDATABASE PGPORT PGOPTIONS)};

# Runs a command; returns exit code and output.
sub run
{
	my ($command) = @_;
	my $output = `($command) 2>&1`;

	return ($? >> 8, $output);
}

sub run_ok
{
	my ($command, $name) = @_;
	my ($code, $output) = run($command);

	is($code, 0, $name) or diag($output);
	return $output;
}

# A server that identifies users (peer); the database belongs to a user of this machine.
$ctl = "cd / && runuser -u postgres -- $BIN/pg_ctl -D $base/server/data";
run_ok("cd / && runuser -u postgres -- $BIN/initdb -D $base/server/data -A peer", 'a server');
run_ok("$ctl -w -l $base/server/log -o \"-k $base/server -c listen_addresses=''\" start",
	'... runs');
run_ok(
	"cd / && runuser -u postgres -- psql -X -d postgres -c 'CREATE ROLE nobody LOGIN' -c 'CREATE DATABASE zabbix OWNER nobody'",
	'... with a database');
run_ok(<<"SHELL", '... and the extension');
cd / && runuser -u nobody -- psql -X -v ON_ERROR_STOP=1 -d zabbix <<'SQL'
CREATE TABLE history (itemid bigint NOT NULL, clock integer DEFAULT 0 NOT NULL, value double precision DEFAULT 0 NOT NULL,
    ns integer DEFAULT 0 NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE EXTENSION zbxhist;
SELECT * FROM zbxhist.setup();
INSERT INTO history VALUES (4711, extract(epoch FROM now()), 1.5, 42);
SQL
SHELL

for my $user ('', ' --user nobody')
{
	run_ok("scripts/report --database zabbix$user --json --output page.json",
		"scripts/report$user");
	like(`cat page.json`, qr/"history"/, '... has the table');
	like(run_ok("scripts/export --database zabbix$user history", "scripts/export$user"),
		qr/^4711\t\d+\t1\.5\t42$/m, '... has the row');
	run_ok("scripts/progress --database zabbix$user", "scripts/progress$user");
}

chdir '/';
done_testing();

END
{
	my $code = $?;

	run("$ctl -m immediate stop") if $ctl;
	$? = $code;
}
