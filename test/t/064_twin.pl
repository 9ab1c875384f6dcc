# Managed tables answer as plain ones do: 20,000 generated statements, the same ones in each
# run, beside maintenance; see test/twin and docs/testing.md.
#
# ZBXHIST_SEED=7 ZBXHIST_STATEMENTS=100000 for others, and more, of them.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

my $node = test_server('twin', autovacuum => 'off');

local %ENV = (
	%ENV,
	PGHOST => $node->host,
	PGPORT => $node->port,
	PGUSER => (getpwuid($>))[0]);
my ($out, $err) = run_command(
	[
		"$FindBin::RealBin/../twin/run",
		'--seed' => $ENV{ZBXHIST_SEED} // 1,
		'--statements' => $ENV{ZBXHIST_STATEMENTS} // 20000
	]);
my %seen = $out =~ /^(\S.*): (\d+)$/mg;

like($out, qr/^\d+ statements in \d+ s, 0 differences$/m, 'no difference')
  or diag($out, $err);
ok($seen{"plan $_"}, "plans with $_ were among them")
  for 'Foreign Scan',
  map { "Zbxhist$_" } qw(Aggregate Insert Item Keys Range);
ok($seen{"upkeep $_ done"}, "... and $_")
  for qw(compact drop_day pack repack run_maintenance unpack);
ok($seen{$_}, "... and SQLSTATE $_") for qw(22003 23505 25P02);
log_is_clean($node);

done_testing();
