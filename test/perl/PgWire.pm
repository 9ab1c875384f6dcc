# PgWire - a client of PostgreSQL's protocol 3.0, for what psql does not send:
# Parse/Bind/Execute with parameters, many of them before one Sync, portals, binary COPY.
# It needs trust authentication over a Unix socket.
package PgWire;

use strict;
use warnings;

use Errno;
use IO::Socket::UNIX;

# Connects to the database on a PostgreSQL::Test::Cluster node.
sub new
{
	my ($class, $node, $database, $user) = @_;
	my $path = $node->host . '/.s.PGSQL.' . $node->port;
	my $self = bless {}, $class;

	$self->{socket} = IO::Socket::UNIX->new(Peer => $path) or die "cannot connect to $path: $!";
	my $options = join("\0", user => $user // (getpwuid($>))[0], database => $database) . "\0\0";
	$self->write_raw(pack('NN', length($options) + 8, 196608) . $options);
	$self->read_until_ready;
	return $self;
}

sub write_raw
{
	my ($self, $bytes) = @_;

	while (length $bytes)
	{
		my $n = syswrite($self->{socket}, $bytes);

		# a child process that ends may interrupt the read
		next if !defined $n && $!{EINTR};
		die "write: $!" unless defined $n;
		substr($bytes, 0, $n, '');
	}
}

sub read_raw
{
	my ($self, $length) = @_;
	my $bytes = '';

	while (length($bytes) < $length)
	{
		my $n = sysread($self->{socket}, $bytes, $length - length($bytes), length $bytes);

		next if !defined $n && $!{EINTR};
		die "connection lost\n" unless $n;
	}
	return $bytes;
}

# Reads one message: type and contents.
sub read_message
{
	my ($self) = @_;
	my ($type, $length) = unpack('aN', $self->read_raw(5));

	return ($type, $self->read_raw($length - 4));
}

# Methods for messages of the given types: Q, P, B, E, S, C, D ...
sub send_message
{
	my ($self, $type, $contents) = @_;

	$self->write_raw($type . pack('N', length($contents) + 4) . $contents);
}

sub parse
{
	my ($self, $name, $sql, @types) = @_;

	$self->send_message('P', "$name\0$sql\0" . pack('n', scalar @types) . pack('N*', @types));
}

# Binds text parameters; undef is null.
sub bind
{
	my ($self, $portal, $statement, @values) = @_;
	my $contents = "$portal\0$statement\0" . pack('nn', 0, scalar @values);

	$contents .= defined $_ ? pack('N', length) . $_ : pack('N', 0xffffffff) for @values;
	$self->send_message('B', $contents . pack('n', 0));
}

# Binds parameters in the binary format.
sub bind_binary
{
	my ($self, $portal, $statement, @values) = @_;
	my $contents = "$portal\0$statement\0" . pack('nnn', 1, 1, scalar @values);

	$contents .= pack('N', length) . $_ for @values;
	$self->send_message('B', $contents . pack('n', 0));
}

sub execute
{
	my ($self, $portal, $max_rows) = @_;

	$self->send_message('E', "$portal\0" . pack('N', $max_rows // 0));
}

sub sync
{
	my ($self) = @_;

	$self->send_message('S', '');
	return $self->read_until_ready;
}

# Runs a statement by the simple protocol.
sub query
{
	my ($self, $sql) = @_;

	$self->send_message('Q', "$sql\0");
	return $self->read_until_ready;
}

# Runs COPY ... FROM STDIN with the data in pieces.  $failure is the reason with which the
# client gives up instead of ending it.
sub copy_in
{
	my ($self, $sql, $data, $failure) = @_;

	$self->send_message('Q', "$sql\0");
	my ($type, $contents) = $self->read_message;
	die "no COPY: $type $contents" unless $type eq 'G';
	while (length $data)
	{
		$self->send_message('d', substr($data, 0, 65536, ''));
	}
	if (defined $failure) { $self->send_message('f', "$failure\0"); }
	else { $self->send_message('c', ''); }
	return $self->read_until_ready;
}

# Reads the answers up to ReadyForQuery: { tags => [], errors => [SQLSTATE],
# messages => [], rows => [[]], status => I, T or E }.
sub read_until_ready
{
	my ($self) = @_;
	my %result = (tags => [], errors => [], messages => [], rows => []);

	for (;;)
	{
		my ($type, $contents) = $self->read_message;

		if ($type eq 'Z')
		{
			$result{status} = $contents;
			return \%result;
		}
		elsif ($type eq 'K')
		{
			$self->{pid} = unpack('N', $contents);
		}
		elsif ($type eq 'C')
		{
			push @{ $result{tags} }, unpack('Z*', $contents);
		}
		elsif ($type eq 'D')
		{
			push @{ $result{rows} }, [ data_row($contents) ];
		}
		elsif ($type eq 'E')
		{
			my %field =
			  map { substr($_, 0, 1) => substr($_, 1) } grep { length } split(/\0/, $contents);

			push @{ $result{errors} }, $field{C};
			push @{ $result{messages} }, $field{M};
			die "$field{M}\n" if $field{S} eq 'FATAL';
		}
	}
}

sub data_row
{
	my ($contents) = @_;
	my $count = unpack('n', $contents);
	my $at = 2;
	my @values;

	for (1 .. $count)
	{
		my $length = unpack('N', substr($contents, $at, 4));

		$at += 4;
		if ($length == 0xffffffff)
		{
			push @values, undef;
			next;
		}
		push @values, substr($contents, $at, $length);
		$at += $length;
	}
	return @values;
}

# The process that serves the connection.
sub pid { return $_[0]->{pid}; }

# Has an answer begun to arrive?
sub has_answer
{
	my ($self) = @_;
	my $bits = '';

	vec($bits, fileno($self->{socket}), 1) = 1;
	return select($bits, undef, undef, 0) > 0;
}

sub close
{
	my ($self) = @_;

	$self->send_message('X', '');
	close $self->{socket};
}

1;
