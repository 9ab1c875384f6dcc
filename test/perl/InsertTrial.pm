# InsertTrial - sends INSERTs as Zabbix does into a managed table and a plain one while
# something else is done to the tables, and compares the outcomes.
#
# Each trial sends its statements without waiting for their ends.  To the managed table: one
# statement for each place of a row (packed day, partition, parent), a prepared one, and
# zbxhist.add(), all in sessions that have loaded the library, and one statement in a new
# session that has not.  To the plain table: a simple and a prepared statement.
# pg_blocking_pids() tells who waits for whom, never the time.
package InsertTrial;

use strict;
use warnings;

use PgWire;
use Test::More;
use Time::HiRes ();

# The first second of a packed day, of a day with a partition, and of a day with neither.
my %clock = (
	packed => 978307200,       # 2001-01-01
	partition => 978393600,    # 2001-01-02
	parent => 1262304000);    # 2010-01-01

# the table that each session writes to, and the session that its outcome is compared with
my @writers = (
	{ name => 'plain', table => 'plain' },
	{ name => 'plain_prepared', table => 'plain' },
	(map { { name => $_, table => 'managed', like => 'plain', place => $_ } } sort keys %clock),
	{ name => 'prepared', table => 'managed', like => 'plain_prepared' },
	{ name => 'add', table => 'managed', like => 'plain' },
	{ name => 'late', table => 'managed', like => 'plain' });

# Makes roles, schemas and sessions; the database has the extension.
sub new
{
	my ($class, $node, $database) = @_;
	my $self = bless { node => $node, database => $database, tables => 0, item => 1000 }, $class;

	$self->{control} = $self->superuser;
	$self->sql(
		'CREATE ROLE keeper',
		'CREATE ROLE zabbix_early LOGIN',
		'CREATE ROLE zabbix_late LOGIN',
		"ALTER ROLE zabbix_early SET session_preload_libraries = 'zbxhist'",
		'CREATE SCHEMA managed',
		'CREATE SCHEMA plain',
		"ALTER DATABASE $database SET search_path = managed, plain",
		'GRANT ALL ON SCHEMA managed, plain, zbxhist TO PUBLIC',
		'GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA zbxhist TO PUBLIC');
	$self->{client} = {
		map { $_->{name} => PgWire->new($node, $database, 'zabbix_early') }
		grep { $_->{name} ne 'late' } @writers
	};
	return $self;
}

# Opens a session of the superuser.
sub superuser
{
	my ($self) = @_;
	my $client = PgWire->new($self->{node}, $self->{database}, 'postgres');

	# a session that waits for ever is a failure
	$client->query("SET lock_timeout = '2min'");
	$client->query('SET zbxhist.allow_packed_drop = on');
	return $client;
}

# Runs statements that must not fail; returns the rows of the last.
sub sql
{
	my ($self, @statements) = @_;
	my $result;

	for (@statements)
	{
		$result = $self->{control}->query($_);
		die "$_: @{ $result->{messages} }\n" if @{ $result->{errors} };
	}
	return $result->{rows};
}

# ---- tables ----

# Makes a managed table with a packed day, a partition and rows of its own, and a plain one
# with the same rows, all with item 1.  The trials use them from now on.
sub create_tables
{
	my ($self) = @_;
	my $number = ++$self->{tables};
	my ($managed, $plain) = ("managed.m$number", "plain.p$number");
	my $rows = join ',', map { "(1, $_, 'x', 0)" } values %clock;

	for my $table ($managed, $plain)
	{
		$self->sql(
			"CREATE TABLE $table (itemid bigint NOT NULL,"
			  . ' clock integer DEFAULT 0 NOT NULL,'
			  . " value text DEFAULT '' NOT NULL,"
			  . ' ns integer DEFAULT 0 NOT NULL, PRIMARY KEY (itemid, clock, ns))',
			"ALTER TABLE $table OWNER TO keeper",
			"GRANT ALL ON $table TO zabbix_early, zabbix_late");
	}
	$self->sql(
		"SELECT zbxhist.create_parent('$managed', retention => '100 years', premake => 0)",
		"SELECT zbxhist.create_partition('$managed', d) FROM unnest('{2001-01-01,2001-01-02}'::date[]) d",
		"INSERT INTO $managed VALUES $rows",
		"INSERT INTO $plain VALUES $rows",
		"CALL zbxhist.pack('$managed', '2001-01-01')");
	$self->{name} = { managed => "m$number", plain => "p$number" };
	$self->{stored} = [ 0, 0 ];
}

sub drop_tables
{
	my ($self) = @_;

	$self->sql(
		"DROP TABLE IF EXISTS plain.$self->{name}{plain} CASCADE",
		"DROP TABLE IF EXISTS managed.$self->{name}{managed} CASCADE");
}

# Counts the rows of tables, and sums their items.
sub count_rows
{
	my ($self, @tables) = @_;
	my $rows = join ' UNION ALL ', map { "SELECT itemid FROM $_" } @tables;

	return $self->sql("SELECT count(*), coalesce(sum(itemid), 0) FROM ($rows) r WHERE itemid <> 1")
	  ->[0];
}

# The tables must have exactly the rows whose INSERTs succeeded.  Only the given tables are
# counted, not the managed table with its children.
sub rows_are_there
{
	my ($self, $what, @tables) = @_;

	@tables = "managed.$self->{name}{managed}" unless @tables;
	is("@{ $self->count_rows(@tables) }", "@{ $self->{stored} }", "$what: each row is there once");
}

# Notes that rows were deleted.
sub forget_rows
{
	my ($self) = @_;

	$self->{stored} = $self->count_rows("managed.$self->{name}{managed}");
}

# ---- statements ----

sub insert_statement
{
	my ($table, @rows) = @_;

	return "insert into $table (itemid,clock,ns,value) values "
	  . join(',', map { "($_->[0],$_->[1],$_->[3],'$_->[2]')" } @rows);
}

sub add_statement
{
	my ($table, @rows) = @_;
	my @arrays = map {
		my $column = $_;
		"'{" . join(',', map { $_->[$column] } @rows) . "}'"
	} 0, 1, 3, 2;

	return "select zbxhist.add(NULL::$table, " . join(', ', @arrays) . '::text[])';
}

# Prepares a statement once for each table.
sub send_prepared
{
	my ($client, $table, @rows) = @_;
	my $name = $table . @rows;
	my $last = 0;

	$client->parse(
		$name,
		"insert into $table (itemid,clock,value,ns) values " . join(
			',',
			map {
				'($'
				  . join(',$', map { ++$last } 1 .. 4) . ')'
			} @rows)) unless $client->{has_prepared}{$name}++;
	$client->bind('', $name, map { @$_ } @rows);
	$client->execute('');
	$client->send_message('S', '');
}

# Sends a statement without waiting for its end.
sub send_rows
{
	my ($writer) = @_;
	my ($client, $table) = @{$writer}{ 'client', 'table' };
	my @rows = @{ $writer->{rows} };

	if ($writer->{name} =~ /prepared/)
	{
		send_prepared($client, $table, @rows);
		return;
	}
	my $statement =
	  $writer->{name} eq 'add' ? add_statement($table, @rows) : insert_statement($table, @rows);
	$client->send_message('Q', "$statement\0");
}

# ---- trials ----

# Sends a statement in each session: new rows, two for each place, or, for duplicates, the
# rows that the tables began with.
sub start
{
	my ($self, %options) = @_;
	my @trial;

	for (@writers)
	{
		my %writer = %$_;
		my @clocks = $writer{place} ? $clock{ $writer{place} } : sort values %clock;

		next if $options{duplicates} && $writer{name} eq 'late';
		$writer{client} = $self->{client}{ $writer{name} }
		  // PgWire->new($self->{node}, $self->{database}, 'zabbix_late');
		$writer{is_managed} = $writer{table} eq 'managed';
		$writer{table} = $self->{name}{ $writer{table} };
		$writer{rows} = $options{duplicates} ? [ map { [ 1, $_, 'x', 0 ] } @clocks ] : [
			map {
				my $item = ++$self->{item};
				[ $item, $_, "v$item", $item % 5 ]
			} @clocks,
			@clocks
		];
		send_rows(\%writer);
		push @trial, \%writer;
	}
	$self->{trial} = \@trial;
}

# Reads a statement's outcome: ok or its SQLSTATE.
sub read_outcome
{
	my ($self, $writer) = @_;
	my $result = $writer->{client}->read_until_ready;
	my $stored = $self->{stored};

	$writer->{final} = $result->{errors}[0] // 'ok';
	$writer->{message} = $result->{messages}[0];

	# add() takes the table as a row type
	$writer->{final} = '42P01' if $writer->{final} eq '42704';
	return if $writer->{final} ne 'ok' || !$writer->{is_managed};
	for my $item (grep { $_ != 1 } map { $_->[0] } @{ $writer->{rows} })
	{
		$stored->[0]++;
		$stored->[1] += $item;
	}
}

# Which of the trial's sessions wait for one of the processes?
sub waiting
{
	my ($self, $undecided, @blockers) = @_;
	my $pids = join ',', map { $_->{client}->pid } @$undecided;
	my $blockers = join ',', @blockers;

	return map { $_->[0] => 1 } @{
		$self->sql(
			"SELECT pid FROM unnest('{$pids}'::integer[]) pid WHERE pg_blocking_pids(pid) && '{$blockers}'"
		)
	};
}

# Waits until each statement has ended or waits for one of these processes.
sub watch
{
	my ($self, @blockers) = @_;
	my @undecided = @{ $self->{trial} };

	for my $round (1 .. 30000)
	{
		# first, because an answer may come after the other check
		my %waits = @blockers && $round > 1 ? $self->waiting(\@undecided, @blockers) : ();
		my @rest;

		for my $writer (@undecided)
		{
			if ($writer->{client}->has_answer)
			{
				$self->read_outcome($writer);
				$writer->{during} = $writer->{final};
			}
			elsif ($waits{ $writer->{client}->pid })
			{
				$writer->{during} = 'waits';
			}
			else { push @rest, $writer; }
		}
		@undecided = @rest or return;
		Time::HiRes::sleep(0.002);
	}
	die 'neither done nor waiting: ' . join(', ', map { $_->{name} } @undecided) . "\n";
}

# Reads the outcomes of the waiting statements when nothing blocks them any more, and closes
# the trial's new session.
sub finish
{
	my ($self) = @_;

	for my $writer (@{ $self->{trial} })
	{
		$self->read_outcome($writer) unless defined $writer->{final};
		$writer->{client}->close unless $self->{client}{ $writer->{name} };
	}
}

# ---- comparing ----

# Is an outcome right?  It should be the plain table's.  A new row may be stored
# nevertheless, unless strict.  A statement that has two errors may fail with either.
sub is_right
{
	my ($is, $should, $new_row, %options) = @_;

	return 1 if $is eq $should;
	return $options{duplicates} ? $options{unkeyed} : !$options{strict} if $is eq 'ok';
	return $options{duplicates} && ($is eq '23505' || $is eq $new_row);
}

# What is wrong with the outcome of a statement, given the plain table's.
sub difference
{
	my ($writer, $plain, $new_row, %options) = @_;

	return "$writer->{name} waits, $plain->{name} does not"
	  if $writer->{during} eq 'waits' && $plain->{during} ne 'waits';
	return if is_right($writer->{final}, $plain->{final}, $new_row, %options);
	return
		"$writer->{name}: $writer->{final} ("
	  . ($writer->{message} // '')
	  . "), $plain->{name}: $plain->{final}";
}

# Tests a trial: new rows are stored, or wait or fail as in the plain table; duplicates
# fail, unless the table has lost its key.  Sessions may be left out.
sub compare
{
	my ($self, $what, %options) = @_;
	my %plain = map { $_->{name} => $_ } grep { !$_->{like} } @{ $self->{trial} };
	my @wrong;

	$self->{new_row} = { map { $_ => $plain{$_}{final} } keys %plain } unless $options{duplicates};
	for my $writer (grep { $_->{like} } @{ $self->{trial} })
	{
		my $like = $writer->{like};

		next if $options{except}{ $writer->{name} };
		push @wrong, difference($writer, $plain{$like}, $self->{new_row}{$like}, %options);
	}
	is(join('; ', @wrong), '', $what);
}

# Runs a trial while other sessions hold locks; the given statement ends their
# transactions.
sub hold
{
	my ($self, $what, $end, $holders, %options) = @_;

	$self->start;
	$self->watch(map { $_->pid } @$holders);
	for (@$holders)
	{
		my $result = $_->query($end);

		die "$end: @{ $result->{messages} }\n" if @{ $result->{errors} };
	}
	$self->finish;
	$self->compare("$what, $end", %options);
}

# Runs a trial with nothing in the way; then a duplicate of each row must be refused.
sub go_on
{
	my ($self, $what, %options) = @_;

	for my $duplicates (0, 1)
	{
		$self->start(duplicates => $duplicates);
		$self->watch;
		$self->finish;
		$self->compare("$what: " . ($duplicates ? 'duplicates' : 'afterwards'),
			%options, duplicates => $duplicates);
	}
}

1;
