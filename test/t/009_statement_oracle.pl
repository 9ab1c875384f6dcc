# What a client is told (rows, command tags, SQLSTATEs, transaction states) and
# what is stored afterwards is the same for managed tables as for plain ones:
# random statements, the same ones in each run, by each protocol, while
# partitions come and go, are locked, packed and unpacked, days are archived on two
# servers and brought back, and rows are moved.
#
# ZBXHIST_SEED=7 ZBXHIST_STEPS=20000 for others, and more, of them.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PgWire;
use PostgreSQL::Test::Utils;
use Test::More;
use ZbxhistTest;

my $steps = $ENV{ZBXHIST_STEPS} // 1200;
my $state = $ENV{ZBXHIST_SEED} // 1;

# a statement that waits for ever is a failure too
my $node = test_server('oracle', statement_timeout => '10min');
create_database($node, 'managed');
$node->safe_psql('postgres', 'CREATE DATABASE plain');
create_zabbix_tables($node, $_) for qw(managed plain);
$node->safe_psql('managed', "SELECT * FROM zbxhist.setup('public', '200 years', '200 years')");
my @servers = has_extension($node, 'postgres_fdw') ? ('north', 'south') : ();
add_archive_server($node, 'managed', $_) for @servers;

# ---- random things ----

# A number below $n.
sub pick
{
	my ($n) = @_;

	$state = ($state * 1103515245 + 12345) & 0x7fffffff;
	return ($state >> 8) % $n;
}

sub choose
{
	return unless @_;
	return $_[ pick(scalar @_) ];
}

# Days and months with and without partitions, and the ends of int4.
my @clocks =
  (86400, 86401, 172799, 172800, 259199, 259200, 2678400, 5097600, 0, -1, -2147483648, 2147483647);
my $fresh = 1000;
my %columns = (
	history => 'itemid,clock,ns,value',
	history_uint => 'itemid,clock,ns,value',
	history_str => 'itemid,clock,ns,value',
	history_text => 'itemid,clock,ns,value',
	history_bin => 'itemid,clock,ns,value',
	history_log => 'itemid,clock,ns,timestamp,source,severity,value,logeventid',
	trends => 'itemid,clock,num,value_min,value_avg,value_max',
	trends_uint => 'itemid,clock,num,value_min,value_avg,value_max');
my @tables = sort keys %columns;

# The value columns of a row.
sub values_of
{
	my ($table) = @_;
	my $n = pick(1000);

	return choose('0', '1.5', '-1.7976931348623157E+308', '0.1', 'NaN') if $table eq 'history';
	return choose('0', '18446744073709551615', $n) if $table eq 'history_uint';
	return 'x' x (pick(10) ? $n % 256 : 256) if $table eq 'history_str';
	return "line $n\tof text" x (pick(20) ? $n % 40 : 400) if $table eq 'history_text';
	return '\x' . '00ff' x ($n % 50) if $table eq 'history_bin';
	return ($n, "it's", $n % 5, "a \\ b\n$n", 0) if $table eq 'history_log';
	return ($n, $n / 7, $n / 3, 1e300) if $table eq 'trends';
	return ($n, $n, $n, '18446744073709551615');
}

# The clocks of each table's archived days, [from, to).  An INSERT does not look there for
# its keys, so that one which is there already differs from a plain table's.
my %archived;

sub is_archived
{
	my ($table, $clock) = @_;

	return scalar grep { $_->[0] <= $clock && $clock < $_->[1] } @{ $archived{$table} // [] };
}

# A clock of a new key, or of one that may be there.
sub make_clock
{
	my ($table, $is_fresh) = @_;
	my $clock = $clocks[ pick(choose(1, 4, scalar @clocks)) ];

	return $clock if $is_fresh || !is_archived($table, $clock);
	return choose(grep { !is_archived($table, $_) } @clocks);
}

# A row: with a key that is new, or with one of few.
sub make_row
{
	my ($table, $is_fresh) = @_;

	return (
		$is_fresh ? $fresh++ : pick(50),
		make_clock($table, $is_fresh),
		$table =~ /^trends/ ? () : pick(2),
		values_of($table));
}

sub make_rows
{
	my ($table, $is_fresh) = @_;
	my $count = !$is_fresh ? 1 + pick(5) : pick(15) ? 1 + pick(30) : 1000 + pick(2000);

	return map { [ make_row($table, $is_fresh) ] } 1 .. $count;
}

sub quoted
{
	return map { my $v = $_; $v =~ s/'/''/g; "'$v'" } @_;
}

sub insert_of
{
	my ($table, @rows) = @_;

	return "insert into $table ($columns{$table}) values "
	  . join(',', map { '(' . join(',', quoted(@$_)) . ')' } @rows);
}

# One line of COPY.
sub copy_line
{
	my ($row) = @_;

	return join(
		"\t",
		map {
			my $v = $_;
			$v =~ s/([\\\t\n])/$1 eq "\t" ? '\\t' : $1 eq "\n" ? '\\n' : '\\\\'/ge;
			$v
		} @$row) . "\n";
}

# ---- the two sides ----

my %client;
my $admin = PgWire->new($node, 'managed');
my $locker = PgWire->new($node, 'managed');
my $tags_are_known = 0;
my $is_locked = 0;
my $steps_locked = 0;
my $status = 'I';
my ($differences, $statements, %seen) = (0, 0);

sub connect_clients
{
	my $preload = pick(2);

	$node->safe_psql('postgres',
		'ALTER DATABASE managed '
		  . ($preload ? "SET session_preload_libraries = 'zbxhist'" : 'RESET ALL'));
	for my $side (qw(plain managed))
	{
		$client{$side}->close if $client{$side};
		$client{$side} = PgWire->new($node, $side);
	}
	$tags_are_known = $preload;
}

# Lets both sides do the same, so nothing random, and compares what they say.
sub both
{
	my ($what, $code) = @_;
	my (%said, %result);

	for my $side (qw(plain managed))
	{
		my $result = $result{$side} = $code->($client{$side});

		# a partition's key has its own name
		my @duplicates = grep { /duplicate key/ } @{ $result->{messages} };
		s/_p\d{6,8}(?=_)// for @duplicates;

		# of a SELECT that fails, how many rows come first is chance
		$result->{rows} = [] if @{ $result->{errors} };

		# the statement that loads the library may not know its count
		$said{$side} = join(
			'; ',
			join(',', $tags_are_known ? @{ $result->{tags} } : ()),
			join(',', @{ $result->{errors} }, @duplicates),
			join(
				',',
				map {
					join('|', map { $_ // 'null' } @$_)
				} @{ $result->{rows} }),
			$result->{status});
	}
	$statements++;
	$seen{$_}++ for @{ $result{plain}{errors} };
	if ($said{plain} ne $said{managed})
	{
		$differences++;
		diag("statement $statements differs: " . substr($what, 0, 400));
		diag("$_: " . substr($said{$_}, 0, 300)) for sort keys %said;
		diag(join ' / ', @{ $result{managed}{messages} });
	}
	return $result{plain};
}

sub simple
{
	my ($sql) = @_;

	return both($sql, sub { $_[0]->query($sql) });
}

# ---- statements ----

sub extended
{
	my ($table) = @_;
	my $is_fresh = pick(2);
	my @rows = map { [ make_row($table, $is_fresh) ] } 1 .. 1 + pick(5);
	my $width = scalar @{ $rows[0] };
	my $per = choose(1, 1, scalar @rows);
	my $sql = "insert into $table ($columns{$table}) values " . join(
		',',
		map {
			my $r = $_;
			'(' . join(',', map { '$' . ($r * $width + $_) } 1 .. $width) . ')'
		} 0 .. $per - 1);
	my $name = choose('', 's');
	my $is_pipeline = pick(2);

	return both(
		"$sql, " . @rows . ' rows',
		sub {
			my ($c) = @_;
			my @todo = @rows;
			my %all = (tags => [], errors => [], messages => [], rows => []);
			my $collect = sub {
				my $r = $c->sync;
				push @{ $all{$_} }, @{ $r->{$_} } for qw(tags errors messages rows);
				$all{status} = $r->{status};
			};

			$c->query("deallocate all") if $name;
			$c->parse($name, $sql);
			while (my @some = splice(@todo, 0, $per))
			{
				push @some, [ make_nothing($some[0]) ] while @some < $per;
				$c->bind('', $name, map { @$_ } @some);
				$c->execute('');
				$collect->() if !$is_pipeline;
			}
			$collect->();
			return \%all;
		});
}

# A row that is like another one, of a key that nobody has.
sub make_nothing
{
	my ($row) = @_;
	my @copy = @$row;

	$copy[0] = $row->[0] + 1000000000;
	return @copy;
}

sub copy_from
{
	my ($table) = @_;
	my $is_fresh = pick(2);
	my $data = join('', map { copy_line($_) } make_rows($table, $is_fresh));

	# with more than one error the two may differ in which comes first: a text that is too long, too
	$data =~ s/x{256}/x/g if !$is_fresh;
	my $failure = pick(8) || !$is_fresh ? undef : 'client gave up';
	my $sql = "copy $table ($columns{$table}) from stdin";

	$data .= "nonsense\n" unless pick(10) || !$is_fresh || defined $failure;
	return both(
		$sql,
		sub {
			my ($c) = @_;

			# in a failed transaction COPY does not begin
			my $r = $c->query('select 1');
			return $r if $r->{status} eq 'E';
			return $c->copy_in($sql, $data, $failure);
		});
}

sub block
{
	my ($table) = @_;
	my @inserts = map { insert_of($table, make_rows($table, pick(2))) } 1 .. 4;
	my $end = pick(3) ? '' : 'raise division_by_zero;';

	return simple("do \$block\$ begin $inserts[0]; begin $inserts[1]; $inserts[2]; $end"
		  . " exception when unique_violation or division_by_zero then $inserts[3]; end;"
		  . ' end $block$');
}

sub transaction
{
	return simple(
		choose(
			'begin', 'begin', 'commit', 'end',
			'rollback', 'savepoint a', 'savepoint a', 'rollback to a',
			'release a'));
}

sub change
{
	my ($table) = @_;
	my $clock = choose(@clocks);
	my $other = choose(@clocks);
	my $value = $table =~ /^trends/ ? 'num' : 'value';

	return read_by_function($table) if pick(4) == 0;
	return simple(
		choose(
			"delete from $table where itemid = " . pick(50),
			"delete from $table where clock = $clock and itemid < " . pick(60),
			"delete from $table where clock >= $clock and clock < $other and itemid % 3 = 0",
			"update $table set $value = $value where clock = $clock",
			"update $table set $value = $value where itemid < " . pick(60),
			(pick(10) ? () : "truncate $table"),
			"select count(*), md5(string_agg(t::text, ',' order by t::text)) from $table t",
			"select count(*), md5(string_agg(t::text, ',' order by t::text)) from $table t where clock >= $clock and clock < $other",
			"select itemid, clock from $table where itemid = ${\ pick(50)} order by clock desc limit ${\ (1 + pick(4))}",
			"select itemid, count(*), min(clock), max(clock) from $table where clock >= $clock and itemid < ${\ pick(60)} group by itemid order by itemid",
			(   $table =~ /^history(_uint)?$/
				? "select itemid, count(*), min(value), max(value), sum(value) from $table where itemid < ${\ pick(60)} group by itemid order by itemid"
				: ())));
}

# A function that reads and the statement that it stands for.
sub read_by_function
{
	my ($table) = @_;
	my $item = pick(50);
	my $from = choose(@clocks);
	my $to = choose(@clocks);
	my $order = choose('asc', 'desc');
	my ($call, $statement) = @{
		choose(
			[
				"zbxhist.range(null::$table, $item, $from, $to, '$order') r",
				"$table r where itemid = $item and clock >= $from and clock < $to"
			],
			[
				"zbxhist.last_values(null::$table, array[$item], 2147483647) r",
				"$table r where itemid = $item"
			])
	};

	return both(
		$call,
		sub {
			my $from = $_[0] == $client{plain} ? $statement : $call;

			return $_[0]
			  ->query("select count(*), md5(string_agg(r::text, ',' order by r::text)) from $from");
		});
}

# zbxhist.add() and the statement that it stands for.
sub add
{
	my ($table, $is_fresh) = @_;
	my %types = (
		history => 'float8',
		history_uint => 'numeric',
		history_text => 'text',
		history_bin => 'bytea');
	my @types = ('bigint', 'integer', 'integer', $types{$table});

	# DO UPDATE does not change a row twice
	my %row = map { join(' ', @$_[ 0 .. 2 ]) => $_ } make_rows($table, $is_fresh);
	my @rows = map { $row{$_} } sort keys %row;
	my $arrays = join ', ', map {
		my $i = $_;
		'ARRAY[' . join(',', quoted(map { $_->[$i] } @rows)) . "]::$types[$i]\[]"
	} 0 .. 3;
	my $action = choose('error', 'ignore', 'update');
	my $clause =
		$action eq 'ignore' ? 'ON CONFLICT DO NOTHING'
	  : $action eq 'update' ? 'ON CONFLICT (itemid, clock, ns) DO UPDATE SET value = excluded.value'
	  : '';
	my $statement = "INSERT INTO $table ($columns{$table}) SELECT * FROM unnest($arrays) $clause";
	my $call = "SELECT zbxhist.add(NULL::$table, $arrays, on_conflict => '$action')";

	return both(
		$call,
		sub {
			my ($c) = @_;
			my $result = $c->query($c == $client{plain} ? $statement : $call);

			$result->{$_} = [] for qw(tags rows);
			return $result;
		});
}

sub insert
{
	my ($table) = @_;
	my $kind = pick(12);

	# an update has to wait for the partition; of a duplicate and a value that
	# is too long the two may differ in which comes first
	return add($table, pick(2))
	  if $kind >= 10 && !$is_locked && $table =~ /^history(_uint|_text|_bin)?$/;
	my $insert = insert_of($table, make_rows($table, pick(2)));

	return simple("$insert returning itemid, clock") if $kind == 0;
	return simple("$insert on conflict do nothing") if $kind == 1;
	return simple("with a as ($insert) " . insert_of($table, make_rows($table, pick(2))))
	  if $kind == 2;
	return simple(join ';', $insert, map { insert_of($_, make_rows($_, pick(2))) } choose(@tables),
		choose(@tables))
	  if $kind == 3;
	return simple("$insert;\n");
}

# ---- what happens to the managed tables meanwhile ----

sub partitions
{
	my ($table) = @_;

	return map { $_->[0] } @{
		$admin->query(
				"select p.partition from zbxhist.list_partitions('$table') p"
			  . ' where to_clock < 100000000')->{rows}
	};
}

sub lock_partition
{
	my ($table) = @_;
	my $partition = choose(partitions($table)) // return;

	# one under which its keys can be looked up: for another an INSERT waits
	my $result = $locker->query(
		"begin; set local lock_timeout = 50; lock table only $partition in share mode");

	if (@{ $result->{errors} }) { $locker->query('rollback'); return; }
	$is_locked = 1;
	$steps_locked = 5;
}

# Days are packed, get late rows, and are unpacked; this would wait for the client's transaction.
sub pack_some
{
	my ($table) = @_;
	my $day = choose('1970-01-01', '1970-01-02', '1970-01-02', '1970-01-03');
	my $what = choose('pack', 'pack', 'unpack', 'run_maintenance',
		@servers ? ('archive', 'archive', 'unarchive') : ());

	return if $status ne 'I';
	$admin->query("select zbxhist.create_partition('$table', '$day')");
	if ($what eq 'archive')
	{
		my $server = choose(@servers);
		my $packed = $admin->query("call zbxhist.pack('$table', '$day')");
		$seen{pack}++ if !@{ $packed->{errors} };
		$admin->query("select zbxhist.alter_parent('$table', archive_server => '$server')");
	}
	my $result = $admin->query(
		"call zbxhist.$what('$table'" . ($what eq 'run_maintenance' ? ')' : ", '$day')"));
	$seen{$what}++ if !@{ $result->{errors} };
	$archived{$table} = $admin->query(
		"select from_clock, to_clock from zbxhist.packed_day where parent = '$table'::regclass and archive_copy is not null"
	)->{rows};
}

sub disturb
{
	my ($table) = @_;
	my $day = choose(
		'1970-01-01', '1970-01-02', '1970-01-02', '1970-01-03',
		'1970-02-01', '1901-12-14', '2038-01-19', '1969-12-31');
	my $partition = choose(partitions($table));
	my $move = sub {
		my ($from, $to) = @_;
		$admin->query(
				"select zbxhist_internal.move_rows('$from', '$to', b.from_clock, b.to_clock, null, "
			  . (1 + pick(3000))
			  . ") from zbxhist.partition_bounds('$partition') b");
	};

	my $kind = pick(9);

	$admin->query('set lock_timeout = 50; set client_min_messages = error');
	return pack_some($table) if pick(2) == 0;
	if ($kind < 2)
	{
		$admin->query("select zbxhist.create_partition('$table', '$day')");
	}
	elsif ($kind == 2) { lock_partition($table); }
	elsif ($kind == 3)
	{
		# it would wait for the client's transaction
		$admin->query("call zbxhist.run_maintenance('$table')") if $status eq 'I';
	}
	elsif ($kind == 4)
	{
		$admin->query("select zbxhist_internal.step_verify('$table')");
	}
	elsif ($kind == 5)
	{
		$admin->query(
			"update zbxhist.parent_config set routing = not routing where parent = '$table'::regclass;"
			  . " select zbxhist_internal.invalidate('$table')");
	}
	elsif (!defined $partition) { return; }
	elsif ($kind == 6) { $move->($table, $partition); }
	elsif ($kind == 7) { $move->($partition, $table); }
	else
	{
		# one that is empty goes
		$admin->query(
			"select zbxhist_internal.move_rows('$partition', '$table', b.from_clock, b.to_clock, null, 2000000000)"
			  . " from zbxhist.partition_bounds('$partition') b;"
			  . " drop table $partition");
	}
}

sub compare_tables
{
	my ($when) = @_;

	for my $table (@tables)
	{
		my @totals = map { totals($node, $_, $table) } qw(plain managed);

		next if $totals[0] eq $totals[1];
		$differences++;
		diag("$table differs $when: $totals[0], $totals[1]");
	}
}

# ---- the run ----

connect_clients();
for my $step (1 .. $steps)
{
	my $table = choose(@tables);

	if ($is_locked && --$steps_locked <= 0)
	{
		$locker->query('commit');
		$is_locked = 0;
	}
	disturb($table) if !$is_locked && pick(3) == 0;
	$client{managed}->query(
		'set zbxhist.'
		  . choose(
			'enable_routing = on',
			'enable_routing = on',
			'enable_routing = off',
			'enable_batching = on',
			'enable_batching = on',
			'enable_batching = off')) if $tags_are_known && $status eq 'I' && pick(10) == 0;

	my $kind = $is_locked ? 9 : $tags_are_known ? pick(12) : 11;
	my $result =
		$kind == 0 ? extended($table)
	  : $kind == 1 ? extended($table)
	  : $kind == 2 ? copy_from($table)
	  : $kind == 3 ? block($table)
	  : $kind <= 6 ? change($table)
	  : $kind <= 8 ? transaction()
	  : insert($table);

	$status = $result->{status};
	if ($status eq 'E' && pick(2))
	{
		$status = simple(choose('rollback', 'rollback to a'))->{status};
	}
	$tags_are_known = 1 if $kind >= 9 && !@{ $result->{errors} };
	if ($status eq 'I' && $step % 50 == 0)
	{
		$locker->query('commit') if $is_locked;
		$is_locked = 0;
		compare_tables("in step $step");
		connect_clients();
	}
}
simple('rollback');
$locker->query('rollback');
compare_tables('at the end');
is($differences, 0, "$statements statements, no difference");
cmp_ok($seen{'23505'} // 0, '>', $steps / 50, 'duplicates were among them');
cmp_ok($seen{$_} // 0, '>', $steps / 200, "... and $_")
  for qw(pack unpack run_maintenance), @servers ? qw(archive unarchive) : ();
cmp_ok($statements, '>=', $steps, 'all have run');
log_is_clean($node);

done_testing();
