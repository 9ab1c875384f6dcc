# exploration
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PgWire;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes ();
use ZbxhistTest;

my $node = test_server('unfit');
create_database($node, 'zabbix');
my $today = day(0);

# itemid, clock, ns: names that may be changed
my @cases = (
	{ name => 'clock bigint', alter => ['ALTER TABLE %s ALTER clock TYPE bigint'] },
	{ name => 'clock numeric', alter => ['ALTER TABLE %s ALTER clock TYPE numeric'] },
	{ name => 'clock double', alter => ['ALTER TABLE %s ALTER clock TYPE double precision'] },
	{ name => 'clock text', alter => ['ALTER TABLE %s ALTER clock TYPE text'] },
	{ name => 'clock timestamptz', alter => ['ALTER TABLE %s ALTER clock TYPE timestamptz USING to_timestamp(clock)'] },
	{ name => 'itemid numeric', alter => ['ALTER TABLE %s ALTER itemid TYPE numeric'] },
	{ name => 'itemid integer', alter => ['ALTER TABLE %s ALTER itemid TYPE integer'] },
	{ name => 'itemid text', alter => ['ALTER TABLE %s ALTER itemid TYPE text'] },
	{ name => 'ns bigint', alter => ['ALTER TABLE %s ALTER ns TYPE bigint'] },
	{ name => 'clock renamed', alter => ['ALTER TABLE %s RENAME clock TO t'], clock => 't' },
	{ name => 'itemid renamed', alter => ['ALTER TABLE %s RENAME itemid TO item'], itemid => 'item' },
	{ name => 'ns renamed', alter => ['ALTER TABLE %s RENAME ns TO nano'], ns => 'nano' },
	{ name => 'value renamed', alter => ['ALTER TABLE %s RENAME value TO v'], value => 'v' },
	{ name => 'clock dropped', alter => ['ALTER TABLE %s DROP clock'], clock => undef },
	{ name => 'itemid dropped', alter => ['ALTER TABLE %s DROP itemid'], itemid => undef },
	{ name => 'ns dropped', alter => ['ALTER TABLE %s DROP ns'], ns => undef },
	{ name => 'value dropped', alter => ['ALTER TABLE %s DROP value'], value => undef },
	{ name => 'key dropped', alter => ['ALTER TABLE %1$s DROP CONSTRAINT %1$s_pkey'] },
	{ name => 'key of two', alter => ['ALTER TABLE %1$s DROP CONSTRAINT %1$s_pkey, ADD PRIMARY KEY (itemid, clock, ns, value)'] },
	{ name => 'key and not null dropped', alter => ['ALTER TABLE %1$s DROP CONSTRAINT %1$s_pkey', 'ALTER TABLE %1$s ALTER clock DROP NOT NULL'] },
	{ name => 'itemid can be null', alter => ['ALTER TABLE %1$s DROP CONSTRAINT %1$s_pkey', 'ALTER TABLE %1$s ALTER itemid DROP NOT NULL'] },
	{ name => 'bounds dropped', own => ['ALTER TABLE history_p19700103 DROP CONSTRAINT zbxhist_clock'] },
	{ name => 'all bounds dropped', own => [q{DO $$ DECLARE p regclass; BEGIN FOR p IN SELECT partition FROM zbxhist.list_partitions('history') LOOP EXECUTE format('ALTER TABLE %s DROP CONSTRAINT zbxhist_clock', p); END LOOP; END $$}] },
	{ name => 'bounds not valid', own => ['ALTER TABLE history_p19700103 DROP CONSTRAINT zbxhist_clock', 'ALTER TABLE history_p19700103 ADD CONSTRAINT zbxhist_clock CHECK (clock > 5) NOT VALID'] },
	{ name => 'key of a partition dropped', own => ['ALTER TABLE history_p19700103 DROP CONSTRAINT history_p19700103_pkey'] },
	{ name => 'trigger dropped', own => ['DROP TRIGGER zzz_zbxhist_route ON history'] },
	{ name => 'triggers disabled', own => ['ALTER TABLE history DISABLE TRIGGER USER'] },
	{ name => 'unlogged', alter => ['ALTER TABLE %s SET UNLOGGED'] },
	{ name => 'row security', alter => ['ALTER TABLE %s ENABLE ROW LEVEL SECURITY'] },
	{ name => 'generated column', alter => ['ALTER TABLE %s ADD g integer GENERATED ALWAYS AS (clock + 1) STORED'] },
	{ name => 'identity', alter => ['ALTER TABLE %s ADD g integer GENERATED ALWAYS AS IDENTITY'] },
	{ name => 'serial', alter => ['ALTER TABLE %s ADD g serial'] },
	{ name => 'other owner', own => ['ALTER TABLE history OWNER TO somebody'] },
	{ name => 'inherits', own => ['CREATE TABLE upper (itemid bigint NOT NULL)', 'ALTER TABLE history INHERIT upper'] },
	{ name => 'own child', own => ['CREATE TABLE child (PRIMARY KEY (itemid, clock, ns)) INHERITS (history)'] },
	{ name => 'grandchild', own => ['CREATE TABLE child (PRIMARY KEY (itemid, clock, ns)) INHERITS (history_p19700103)'] },
	{ name => 'overlap', own => ['CREATE TABLE child (PRIMARY KEY (itemid, clock, ns), CONSTRAINT zbxhist_clock CHECK (clock >= 172800 AND clock < 200000)) INHERITS (history)'] },
	{ name => 'renamed table', own => ['ALTER TABLE history RENAME TO h2', 'ALTER TABLE h2 RENAME TO history'] },
	{ name => 'check on the clock', alter => ['ALTER TABLE %s ADD CONSTRAINT zbxhist_clock CHECK (clock >= 0)'] },
);
@cases = grep { $_->{name} =~ /$ENV{CASES}/ } @cases if $ENV{CASES};
$node->safe_psql('zabbix', 'CREATE ROLE somebody');

my %twin = (history => 'plain');

# rows before: item, clock; a packed day, a partition, today's, none
my @clocks = (86400, 172800, 400000, $today);

sub make_tables
{
	my $sql = join(
		";\n",
		'SET client_min_messages = warning',
		'SET zbxhist.allow_packed_drop = on',
		'DROP TABLE IF EXISTS history, plain, other, upper CASCADE',
		'CALL zbxhist.run_maintenance()',
		(map { "CREATE TABLE $_ (itemid bigint NOT NULL, clock integer NOT NULL,"
		  . ' value double precision NOT NULL, ns integer NOT NULL,'
		  . ' PRIMARY KEY (itemid, clock, ns))' } qw(history plain other)),
		"SELECT zbxhist.create_parent(t, retention => '100 years', pack_after => '1 day') FROM unnest('{history,other}'::regclass[]) t",
		"SELECT zbxhist.create_partition('history', d)"
		  . " FROM (VALUES (date '1970-01-02'), ('1970-01-03')) v (d)",
		(map { my $t = $_; map { "INSERT INTO $t SELECT i, $_, i, 0 FROM generate_series(1, 5) i" } @clocks } qw(history plain)),
		$ENV{NOPACK} ? "SELECT zbxhist.alter_parent('history', never_pack => true)" : "CALL zbxhist.pack('history', '1970-01-02')",
		"SELECT zbxhist.alter_parent('history', never_pack => true)",
		'DELETE FROM zbxhist.maintenance_log',
		"DROP TABLE " . partition('other', 3));
	my ($code, $out, $err) =
	  psql_script($node, 'zabbix', $sql, '-q', '-v', 'ON_ERROR_STOP=1');

	die "$err" if $code;
}

for my $case (@cases)
{
	make_tables();
	my %c = (itemid => 'itemid', clock => 'clock', ns => 'ns', value => 'value', %$case);
	my $client = PgWire->new($node, 'zabbix');
	diag("==== $c{name}");
	my $refused = 0;
	for my $sql (@{ $c{alter} // [] })
	{
		my $a = $client->query(sprintf $sql, 'plain');
		my $b = $client->query(sprintf $sql, 'history');
		diag("   refused @{$b->{messages}} " . "@{$a->{messages}}"), $refused = 1 if @{$a->{errors}} || @{$b->{errors}};
	}
	for my $sql (@{ $c{own} // [] })
	{
		my $b = $client->query($sql);
		diag("  own refused @{$b->{messages}}"), $refused = 1 if @{$b->{errors}};
	}
	next if $refused;
	my $before = $node->safe_psql('zabbix', 'SELECT count(*) FROM pg_class');
	my $t0 = Time::HiRes::time();
	my ($code, $out, $err) = psql_script($node, 'zabbix', "SET statement_timeout = '6s'; CALL zbxhist.run_maintenance();");
	diag(sprintf "   run: %.1f s, %d new objects, %s", Time::HiRes::time() - $t0, $node->safe_psql('zabbix', 'SELECT count(*) FROM pg_class') - $before, $err);
	diag("   OTHER NOT MAINTAINED") unless $node->safe_psql('zabbix', "SELECT count(*) FROM pg_class WHERE relname = '" . partition('other', 3) . "'");
	diag("   check: " . $node->safe_psql('zabbix', "SELECT severity, code, object, message, hint FROM zbxhist.check() WHERE object ~ 'history' OR code IN ('xx') LIMIT 8"));
	my @statements;
	my $columns = join(', ', grep { defined } @c{qw(itemid clock ns value)});
	my $values = sub { my ($i, $clock, $v) = @_; join(', ', defined $c{itemid} ? $i : (), defined $c{clock} ? $clock : (), defined $c{ns} ? 0 : (), defined $c{value} ? $v : ()) };
	my $q = $c{clock} // 'NULL'; 
	$q = 'x';
	push @statements, "SELECT $columns FROM %s ORDER BY $columns";
	for my $clock (@clocks)
	{
		my $x = $c{name} =~ /timestamptz/ ? "to_timestamp($clock)" : $clock;
		push @statements, "INSERT INTO %s ($columns) VALUES (" . $values->(2, $x, 77) . ")";
		push @statements, "INSERT INTO %s ($columns) VALUES (" . $values->(2, $x, 2) . ")";
		push @statements, "INSERT INTO %s ($columns) SELECT " . $values->(2, $x, 77);
		push @statements, "INSERT INTO %s ($columns) SELECT " . $values->(7, $x, 77) . " RETURNING $columns";
		push @statements, "INSERT INTO %s ($columns) VALUES (" . $values->(3, $x, 77) . ") ON CONFLICT DO NOTHING";
		push @statements, "INSERT INTO %s ($columns) VALUES (" . $values->(8, $x, 1) . ")";
		push @statements, "INSERT INTO %s ($columns) VALUES (" . $values->(8, $x, 1) . ")";
	}
	push @statements, "SELECT $columns FROM %s ORDER BY $columns";
	push @statements, "UPDATE %s SET $c{value} = $c{value} + 1 WHERE $c{itemid} = 4" if defined $c{value} && defined $c{itemid} && $c{name} ne 'itemid text';
	push @statements, "DELETE FROM %s WHERE $c{itemid} = 5" if defined $c{itemid} && $c{name} ne 'itemid text';
	push @statements, "DELETE FROM %s WHERE $c{clock} = 86400 AND $c{value} = 3" if defined $c{clock} && defined $c{value};
	push @statements, "SELECT $columns FROM %s ORDER BY $columns";
	for my $sql (@statements)
	{
		my $a = $client->query(sprintf $sql, 'plain');
		my $b = $client->query(sprintf $sql, 'history');
		$_->{tags} = [ map { s/INSERT 0 \d+/INSERT/r } @{$_->{tags}} ] for $a, $b;
		my ($x, $y) = map { join(' ', "@{$_->{errors}}", "@{$_->{tags}}", map { join ',', map { $_ // 'null' } @$_ } @{$_->{rows}}) } $a, $b;
		diag("   DIFF $sql\n      plain: $x\n      ours:  $y @{$b->{messages}}") if $x ne $y;
	}
}
ok(1);
done_testing();
