# Managed tables are altered until they cannot be managed any more: other
# types, names and keys; columns, constraints and indexes dropped.  Maintenance
# ends and maintains the other tables; check() names the table, with a command
# that fixes it; and INSERT, UPDATE, DELETE and SELECT do the same as to a
# plain table that was altered alike.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PgWire;
use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

my $node = test_server('altered_tables');
create_database($node, 'zabbix');
$node->safe_psql('zabbix', 'CREATE ROLE somebody');

# Rows are in a packed day, in a partition, in the table itself, in today's
# partition; the last one is for times without rows.
my @clocks = (86400, 172800, 400000, day(0));

# name: what is altered.  both: statements for both tables (%s).  ours: for the
# managed one alone.  code: what check() finds.  mend: its hint is executed, and
# on the plain table with its name.  column => name: what it is called now;
# undef: there is none.  refused: PostgreSQL or zbxhist say no.  not: statements
# that are not compared.
my @cases = (
	{
		name => 'clock is bigint',
		both => ['ALTER TABLE %s ALTER clock TYPE bigint'],
		code => 'unfit',
		mend => 1
	},
	{
		name => 'clock is numeric',
		both => ['ALTER TABLE %s ALTER clock TYPE numeric'],
		code => 'unfit',
		mend => 1
	},
	{
		name => 'clock is double precision',
		both => ['ALTER TABLE %s ALTER clock TYPE double precision'],
		code => 'unfit',
		mend => 1
	},
	{ name => 'clock is text', both => ['ALTER TABLE %s ALTER clock TYPE text'], refused => 1 },
	{
		name => 'itemid is numeric',
		both => ['ALTER TABLE %s ALTER itemid TYPE numeric'],
		code => 'unfit',
		mend => 1
	},
	{
		name => 'itemid is integer',
		both => ['ALTER TABLE %s ALTER itemid TYPE integer'],
		code => 'unfit',
		mend => 1
	},
	{
		name => 'itemid is text',
		both => ['ALTER TABLE %s ALTER itemid TYPE text'],
		code => 'unfit',
		quote => 1,
		mend => 1
	},
	{
		name => 'ns is bigint',
		both => ['ALTER TABLE %s ALTER ns TYPE bigint']
	},
	{
		name => 'clock has another name',
		both => ['ALTER TABLE %s RENAME clock TO t'],
		clock => 't',
		code => 'unfit',
		mend => { clock => 'clock' }
	},
	{
		name => 'itemid has another name',
		both => ['ALTER TABLE %s RENAME itemid TO item'],
		itemid => 'item',
		code => 'unfit',
		mend => { itemid => 'itemid' }
	},
	{ name => 'ns has another name', both => ['ALTER TABLE %s RENAME ns TO nano'], ns => 'nano' },
	{
		name => 'value has another name',
		both => ['ALTER TABLE %s RENAME value TO v'],
		value => 'v'
	},
	{
		name => 'value and ns have exchanged their names',
		both => [
			'ALTER TABLE %s RENAME value TO v',
			'ALTER TABLE %s RENAME ns TO value',
			'ALTER TABLE %s RENAME v TO ns'
		],
		refused => 1
	},
	{
		name => 'value is another column',
		both => [
			'ALTER TABLE %s RENAME value TO former',
			'ALTER TABLE %s ADD value double precision DEFAULT 7'
		],
		value => 'former'
	},
	{
		name => 'there is no clock',
		both => ['ALTER TABLE %s DROP clock'],
		clock => undef,
		code => 'unfit',
		mend => 1
	},
	{
		name => 'there is no itemid',
		both => ['ALTER TABLE %s DROP itemid'],
		itemid => undef,
		code => 'unfit',
		mend => 1,

		# packed rows cannot be found without it
		not => qr/^DELETE|^SELECT/
	},
	{ name => 'there is no ns', both => ['ALTER TABLE %s DROP ns'], ns => undef },
	{ name => 'there is no value', both => ['ALTER TABLE %s DROP value'], value => undef },
	{
		name => 'there is no key',
		both => ['ALTER TABLE %1$s DROP CONSTRAINT %1$s_pkey']
	},
	{
		name => 'there is a larger key',
		both => [
				'ALTER TABLE %1$s DROP CONSTRAINT %1$s_pkey,'
			  . ' ADD PRIMARY KEY (itemid, clock, ns, value)'
		],
		code => 'indexes',

		# packed rows are not looked for by it
		not => qr/^INSERT .*\(2, 86400, 0, 2\)|^SELECT/
	},
	{
		name => 'there is a second key',
		both => ['ALTER TABLE %s ADD UNIQUE (value, clock, itemid)'],
		code => 'indexes'
	},
	{
		name => 'there is a column more',
		both => ["ALTER TABLE %s ADD note text NOT NULL DEFAULT 'none'"]
	},
	{
		name => 'bounds are gone',
		ours => ['ALTER TABLE history_p19700103 DROP CONSTRAINT zbxhist_clock'],
		code => 'no_bounds'
	},
	{
		name => 'all bounds are gone',
		ours => [
				q{DO $$ DECLARE p regclass; BEGIN }
			  . q{FOR p IN SELECT partition FROM zbxhist.list_partitions('history') LOOP }
			  . q{EXECUTE format('ALTER TABLE %s DROP CONSTRAINT zbxhist_clock', p); }
			  . q{END LOOP; END $$}
		],
		code => 'no_bounds'
	},
	{
		name => 'bounds are others',
		ours => [
				'ALTER TABLE history_p19700103 DROP CONSTRAINT zbxhist_clock,'
			  . ' ADD CONSTRAINT zbxhist_clock CHECK (clock > 5) NOT VALID'
		],
		code => 'no_bounds'
	},
	{
		name => 'bounds overlap',
		ours => [
			'CREATE TABLE history_child (PRIMARY KEY (itemid, clock, ns),'
			  . ' CONSTRAINT zbxhist_clock CHECK (clock >= 172800 AND clock < 200000))'
			  . ' INHERITS (history)',
			'INSERT INTO history_child VALUES (9, 172800, 9, 0)'
		],
		both => ['INSERT INTO %s SELECT 9, 172800, 9, 0 WHERE %2$s'],
		code => 'overlap'
	},
	{
		name => 'a partition has no key',
		ours => ['ALTER TABLE history_p19700103 DROP CONSTRAINT history_p19700103_pkey'],
		code => 'indexes',
		severity => 'error',
		twice => 1,

		# is not looked for without an index
		not => qr/^INSERT .*\(2, 172800|^SELECT|^UPDATE|^DELETE/
	},
	{
		name => 'a partition has no key, but an index',
		ours => [
			'ALTER TABLE history_p19700103 DROP CONSTRAINT history_p19700103_pkey',
			'CREATE INDEX ON history_p19700103 (itemid)'
		],
		code => 'indexes',
		severity => 'error'
	},
	{
		name => 'a child is somebody else\'s',
		ours => [
			'CREATE TABLE history_child (PRIMARY KEY (itemid, clock, ns))' . ' INHERITS (history)',
			'INSERT INTO history_child VALUES (9, 172800, 9, 0)'
		],
		both => ['INSERT INTO %s SELECT 9, 172800, 9, 0 WHERE %2$s'],
		code => 'no_bounds'
	},
	{
		name => 'a partition has a child',
		ours => [
				'CREATE TABLE history_child (PRIMARY KEY (itemid, clock, ns))'
			  . ' INHERITS (history_p19700103)'
		]
	},
	{
		name => 'the table has a parent',
		ours =>
		  [ 'CREATE TABLE upper (itemid bigint NOT NULL)', 'ALTER TABLE history INHERIT upper' ]
	},
	{
		name => 'a foreign key refers to the table',
		ours => [
				'CREATE TABLE referring (itemid bigint, clock integer, ns integer,'
			  . ' FOREIGN KEY (itemid, clock, ns) REFERENCES history)'
		],
		code => 'unfit',
		mend => 1
	},
	{ name => 'it is unlogged', both => ['ALTER TABLE %s SET UNLOGGED'] },
	{
		name => 'it has row security',
		both => ['ALTER TABLE %s ENABLE ROW LEVEL SECURITY'],
		code => 'row_security'
	},
	{ name => 'it is somebody else\'s', ours => ['ALTER TABLE history OWNER TO somebody'] });

@cases = grep { $_->{name} =~ /$ENV{CASES}/ } @cases if $ENV{CASES};

sub run_script
{
	my ($code, $out, $err) =
	  psql_script($node, 'zabbix', join(";\n", @_), '-q', '-v', 'ON_ERROR_STOP=1');

	die $err if $code;
	return $err;
}

# The managed table, a plain one with the same rows, and another managed one,
# which lacks a partition.
sub make_tables
{
	run_script(
		'SET client_min_messages = warning',
		'SET zbxhist.allow_packed_drop = on',
		'DROP TABLE IF EXISTS history, plain, other, upper, referring CASCADE',
		'CALL zbxhist.run_maintenance()',
		(   map {
					"CREATE TABLE $_ (itemid bigint NOT NULL, clock integer NOT NULL,"
				  . ' value double precision NOT NULL, ns integer NOT NULL,'
				  . ' PRIMARY KEY (itemid, clock, ns))'
			} qw(history plain other)),
		"SELECT zbxhist.create_parent(t, retention => '100 years')"
		  . " FROM unnest('{history,other}'::regclass[]) t",
		"SELECT zbxhist.create_partition('history', d)"
		  . " FROM (VALUES (date '1970-01-02'), ('1970-01-03')) v (d)",
		(map { "INSERT INTO history SELECT i, $_, i, 0 FROM generate_series(1, 5) i" } @clocks),
		'INSERT INTO plain SELECT * FROM history',
		"CALL zbxhist.pack('history', '1970-01-02')",
		'CALL zbxhist.run_maintenance()',
		'DROP TABLE ' . partition('other', 3));
}

# Whether all of a case's statements could be executed.
sub alter
{
	my ($client, $case) = @_;

	for my $sql (@{ $case->{ours} // [] })
	{
		my $result = $client->query($sql);

		note("@{ $result->{messages} }"), return 0 if @{ $result->{errors} };
	}
	for my $sql (@{ $case->{both} // [] })
	{
		for (qw(plain history))
		{
			my $is_plain = $_ eq 'plain' ? 'true' : 'false';
			my $result = $client->query(sprintf $sql, $_, $is_plain);

			note("$_: @{ $result->{messages} }"), return 0 if @{ $result->{errors} };
		}
	}
	return 1;
}

# The statements to compare, on %s.
sub statements
{
	my ($case) = @_;
	my %name = (map({ $_ => $_ } qw(itemid clock ns value)), %$case);
	my @columns = grep { defined $name{$_} } qw(itemid clock ns value);
	my $columns = join(', ', map { $name{$_} } @columns);
	my $select = "SELECT $columns FROM %s ORDER BY $columns";
	my $item = sub { $case->{quote} ? "'$_[0]'" : $_[0] };
	my @result = ($select);

	for my $clock (@clocks)
	{
		my $row = sub {
			my %value = (itemid => $item->($_[0]), clock => $clock, ns => 0, value => $_[1]);

			return join(', ', map { $value{$_} } @columns);
		};

		push @result, "INSERT INTO %s ($columns) VALUES (" . $row->(2, 77) . ')',
		  "INSERT INTO %s ($columns) VALUES (" . $row->(2, 2) . ')',
		  "INSERT INTO %s ($columns) SELECT " . $row->(2, 78),
		  "INSERT INTO %s ($columns) SELECT " . $row->(7, 77) . " RETURNING $columns",
		  "INSERT INTO %s ($columns) VALUES (" . $row->(3, 77) . ') ON CONFLICT DO NOTHING',
		  "INSERT INTO %s ($columns) VALUES (" . $row->(8, 1) . ')',
		  "INSERT INTO %s ($columns) VALUES (" . $row->(8, 1) . ')';
	}
	push @result, $select;
	push @result,
	  "UPDATE %s SET $name{value} = $name{value} + 1 WHERE $name{itemid} = " . $item->(4)
	  if defined $name{value} && defined $name{itemid};
	push @result, "DELETE FROM %s WHERE $name{itemid} = " . $item->(5) if defined $name{itemid};
	push @result, "DELETE FROM %s WHERE $name{clock} = 86400 AND $name{value} = 3"
	  if defined $name{clock} && defined $name{value};
	return (@result, $select);
}

# Maintenance changes no row, and says so where it cannot do its work.
sub maintain_again
{
	my ($case) = @_;
	my ($select) = statements($case);

	$node->safe_psql('zabbix', 'UPDATE zbxhist.packed_day SET merged_at = NULL');
	my $err = run_script('CALL zbxhist.run_maintenance()');
	my $client = PgWire->new($node, 'zabbix');

	is( outcome($client, sprintf $select, 'history'),
		outcome($client, sprintf $select, 'plain'),
		"$case->{name}: maintenance after that changes no row"
	) unless $case->{not} && $select =~ $case->{not};
	is( $node->safe_psql(
			'zabbix',
			'SELECT count(*) FROM ONLY history_p19700103 a JOIN ONLY history_p19700103 b'
			  . ' USING (itemid, clock, ns) WHERE a.ctid < b.ctid'),
		0,
		"$case->{name}: ... nor puts it where its key is") if $case->{name} =~ /^a partition/;
	like($err, qr/\A(?:psql:\S+ (?:NOTICE|INFO).*\n)*\z/, "$case->{name}: nor does it fail")
	  unless $case->{code} && $case->{code} eq 'unfit';
}

# What a statement did.
sub outcome
{
	my ($client, $sql) = @_;
	my $result = $client->query($sql);

	# the first statement of a session does not know how many rows it stored
	my @tags = map { s/^INSERT 0 \d+/INSERT/r } @{ $result->{tags} };

	return join(
		"\n",
		@{ $result->{errors} },
		@tags,
		map {
			join(',', map { $_ // 'null' } @$_)
		} @{ $result->{rows} });
}

# The statements do the same to both tables.
sub compare
{
	my ($case, $what) = @_;
	my $client = PgWire->new($node, 'zabbix');
	my @differ;

	for my $sql (statements($case))
	{
		my ($plain, $ours) = map { outcome($client, sprintf $sql, $_) } qw(plain history);

		next if defined $case->{not} && $sql =~ $case->{not};
		push @differ, "$sql:\n$plain\nbut\n$ours" if $plain ne $ours;
	}
	is(join("\n", @differ), '', "$case->{name}: $what");
}

sub children
{
	return $node->safe_psql('zabbix',
		"SELECT count(*) FROM pg_inherits WHERE inhparent = 'history'::regclass");
}

# check()'s row of that code about the table.
sub found
{
	my ($code) = @_;

	return $node->safe_psql('zabbix',
			"SELECT hint FROM zbxhist.check() WHERE object ~ 'history' AND code = '$code'"
		  . ' LIMIT 1');
}

# The hint about a key that a partition lacks is executed: it has the key again,
# and keys that are there twice are told.
sub mend_key
{
	my ($case) = @_;
	my $row = "FROM zbxhist.check() WHERE code = 'indexes' AND object ~ 'history'";
	my ($severity, $hint) = map { $node->safe_psql('zabbix', "SELECT $_ $row") } qw(severity hint);

	is($severity, $case->{severity}, "$case->{name}: it is told as severe as it is");
	note($hint);
	run_script(
		'SET client_min_messages = error',
		$hint =~ s/;$//r,
		'CALL zbxhist.run_maintenance()');
	is(found('indexes'), '', "$case->{name}: the hint has mended it");
	is(found('duplicates') ne '',
		!!$case->{twice}, "$case->{name}: what is there twice is told, if it is");
}

# The hint is executed; then the table is as it was, or a plain one.
sub mend
{
	my ($case, $hint) = @_;
	my $is_undo = $hint =~ /undo/;
	my %mended = (%$case, ref $case->{mend} ? %{ $case->{mend} } : ());

	note($hint);
	run_script(
		'SET client_min_messages = error',
		$hint =~ s/;$//r,
		'CALL zbxhist.run_maintenance()');
	run_script($hint =~ s/public\.history/plain/r =~ s/;$//r)
	  unless $is_undo || $hint =~ /referring/;
	is(found('unfit'), '', "$case->{name}: the hint has mended it");
	is(children(), 0, "$case->{name}: it is a plain table") if $is_undo;
	is( $node->safe_psql(
			'zabbix',
			"SELECT count(*) FROM zbxhist.partitions WHERE state = 'current'"
			  . " AND parent = 'history'::regclass"),
		$is_undo ? 0 : 1,
		"$case->{name}: maintained again, or not");
	compare(\%mended, 'statements after that');
}

for my $case (@cases)
{
	make_tables();
	my $could = alter(PgWire->new($node, 'zabbix'), $case);

	if ($case->{refused})
	{
		ok(!$could, "$case->{name}: is refused");
		next;
	}
	ok($could, "$case->{name}: is done") or next;

	my $before = children();
	run_script('SET client_min_messages = error', 'CALL zbxhist.run_maintenance()');
	cmp_ok(children(), '<=', $before + 5, "$case->{name}: maintenance ends, without many tables");
	is( $node->safe_psql(
			'zabbix', "SELECT to_regclass('" . partition('other', 3) . "') IS NOT NULL"),
		't',
		"$case->{name}: the other table is maintained");
	isnt(found($case->{code}), '', "$case->{name}: check() says so") if defined $case->{code};
	is($node->safe_psql('zabbix', 'SELECT count(*) > 0 FROM zbxhist.status, zbxhist.parents'),
		't', "$case->{name}: the views can be read");
	$node->safe_psql('zabbix', 'SELECT * FROM zbxhist.preview(); TABLE zbxhist.partitions');

	compare($case, 'statements do as with a plain table');
	maintain_again($case);
	mend_key($case) if $case->{severity};
	mend($case, found('unfit')) if $case->{mend};
}

log_is_clean($node);
done_testing();
