# Managed tables answer as plain ones do: 20,000 generated statements, and 300 schedules of
# several sessions, the same ones in each run, beside maintenance; see docs/testing.md.
#
# ZBXHIST_SEED=7 ZBXHIST_STATEMENTS=100000 for others, and more, of them.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

my $statements = $ENV{ZBXHIST_STATEMENTS} // 20000;
my $schedules = int($statements / 66);
my $node = test_server('twin', autovacuum => 'off');

# Runs it; the numbers it prints, by what they are of.
sub twin
{
	my ($title, @options) = @_;

	local %ENV = (%ENV, PGHOST => $node->host, PGPORT => $node->port, PGUSER => (getpwuid($>))[0]);
	my ($out, $err) =
	  run_command([ "$FindBin::RealBin/../twin/run", '--seed', $ENV{ZBXHIST_SEED} // 1, @options ]);

	like($out, qr/^\d+ \w+ in \d+ s, 0 differences$/m, $title) or diag($out, $err);
	return $out =~ /^(\S.*): (\d+)$/mg;
}

my %seen = twin("$statements statements", '--statements' => $statements);
ok($seen{"plan $_"}, "plans with $_ were among them")
  for 'Foreign Scan', map { "Zbxhist$_" } qw(Aggregate Insert Item ItemRows Keys);
ok($seen{"upkeep $_ done"}, "... and $_")
  for qw(archive compact drop_day pack repack run_maintenance unarchive unpack);
ok($seen{$_}, "... and SQLSTATE $_") for qw(22003 23505 25P02);

%seen = twin("$schedules schedules", '--schedules' => $schedules);
ok($seen{"$_ waited"}, "$_ waited in some") for qw(delete insert update upkeep);
ok($seen{"$_ done"}, "... and $_ was done") for qw(archive drop_day);

log_is_clean($node);

done_testing();
