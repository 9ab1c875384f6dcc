# INSERT ...  ON CONFLICT DO SELECT of PostgreSQL 19 returns rows in the parent
# itself as from a plain table.  It is refused for rows in partitions and
# packed days, because the arbiter index does not have them.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use Test::More;
use ZbxhistTest;

my ($version) = `"$ENV{PG_CONFIG}" --version` =~ /(\d+)/;

plan skip_all => 'ON CONFLICT DO SELECT came with PostgreSQL 19' if $version < 19;

my $node = test_server('select');
create_database($node, 'zabbix');
$node->safe_psql(
	'zabbix', q{
	CREATE TABLE history (itemid bigint NOT NULL, clock integer NOT NULL, value bigint NOT NULL, ns integer NOT NULL,
	                      PRIMARY KEY (itemid, clock, ns));
	CREATE TABLE plain (LIKE history INCLUDING ALL);
	SELECT zbxhist.create_parent('history', retention => '200 years');
	SELECT zbxhist.create_partition('history', '1970-01-02'), zbxhist.create_partition('history', '1970-01-03');
	INSERT INTO plain SELECT 1, c, c, 0 FROM unnest('{86400,172800,900000}'::integer[]) c;
	INSERT INTO history TABLE plain;
	CALL zbxhist.pack('history', '1970-01-02')});
is( $node->safe_psql('zabbix', 'SELECT clock, tableoid::regclass FROM history ORDER BY clock'),
	"86400|history_packed\n172800|history_p19700103\n900000|history",
	'rows are in all places');

# Runs the statement in a session of its own, after another or as the first,
# which loads the library when it is under way.
sub store
{
	my ($table, $clock, $clause, $before) = @_;
	my ($code, $rows, $messages) = $node->psql('zabbix',
			"\\set VERBOSITY verbose\n$before INSERT INTO $table VALUES (1, $clock, 7, 0)"
		  . " ON CONFLICT (itemid, clock, ns) $clause RETURNING *");

	return $code == 0 ? $rows : $messages;
}

my $refused =
  qr/ERROR:  0A000: ON CONFLICT DO SELECT cannot return a row in a partition of table "history"\n.*HINT:  Use DO NOTHING, and SELECT/s;

for my $clause ('DO SELECT', 'DO SELECT FOR UPDATE', 'DO SELECT WHERE excluded.value > 9')
{
	for my $before ('', "LOAD 'zbxhist';")
	{
		for my $clock (86400, 172800)
		{
			like(store('history', $clock, $clause, $before), $refused, "$before $clause: $clock");
		}
		is( store('history', 900000, $clause, $before),
			store('plain', 900000, $clause, ''),
			"$before $clause: in the parent");
	}
}
for my $clock (86401, 172801, 900001)
{
	for my $table (qw(plain history))
	{
		is(store($table, $clock, 'DO SELECT', ''), "1|$clock|7|0", "a new key in $table: $clock");
	}
}
is( $node->safe_psql('zabbix', 'SELECT * FROM history ORDER BY clock'),
	$node->safe_psql('zabbix', 'SELECT * FROM plain ORDER BY clock'),
	'no key is there twice');
done_testing();
