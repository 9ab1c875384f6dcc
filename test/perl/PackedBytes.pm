# PackedBytes - reads and writes the bytes of packed days (src/format/segment_format.h), as
# far as a forger must understand them: where segments are, and checksums.
package PackedBytes;

use strict;
use warnings;

use Exporter 'import';

our @EXPORT = qw(segments_of statistics_of with_checksums mutated ARCHIVED);

# the format byte of archived groups
use constant ARCHIVED => 3;

my $GROUP_CRC_OFFSET = 4;
my $GROUP_FIXED_LENGTH = 8;
my $DIRECTORY_COLUMNS = 5;

my @crc_table = map {
	my $crc = $_;
	$crc = $crc & 1 ? $crc >> 1 ^ 0x82F63B78 : $crc >> 1 for 1 .. 8;
	$crc
} 0 .. 255;

sub crc32c
{
	my $crc = 0xFFFFFFFF;

	$crc = $crc_table[ ($crc ^ $_) & 0xFF ] ^ $crc >> 8 for unpack('C*', $_[0]);
	return $crc ^ 0xFFFFFFFF;
}

# Reads a varint at $$at.
sub varint
{
	my ($bytes, $at) = @_;
	my ($number, $shift) = (0, 0);

	while (1)
	{
		die "no varint\n" if $$at >= length $bytes || $shift > 63;
		my $byte = ord substr($bytes, $$at++, 1);
		$number |= ($byte & 0x7F) << $shift;
		return $number if $byte < 0x80;
		$shift += 7;
	}
}

# Reads a column of the directory: the least number, the width of the distances from it, and
# the distances, lowest bit first.
sub numbers
{
	my ($bytes, $at, $count) = @_;

	return () if $count == 0;
	my $least = varint($bytes, $at);
	my $width = ord substr($bytes, $$at++, 1);
	my $length = int(($count * $width + 7) / 8);
	my $bits = unpack('b*', substr($bytes, $$at, $length));

	die "no column\n" if $width > 64 || length $bits < $length * 8;
	$$at += $length;
	return map {
		my $field = substr($bits, $_ * $width, $width);
		$least + unpack('Q<', pack('b64', $field . '0' x (64 - $width)))
	} 0 .. $count - 1;
}

# Reads the directory: where its statistics begin, where it ends, and the lengths of the
# segments.  Dies if the bytes are not readable.
sub directory
{
	my ($bytes) = @_;
	my $at = $GROUP_FIXED_LENGTH;

	varint($bytes, \$at);
	my $nsegments = varint($bytes, \$at);
	my $length = varint($bytes, \$at);
	my $end = $at + $length;
	die "no directory\n" if $nsegments > $length || $end > length $bytes;
	varint($bytes, \$at);
	my @column =
	  map { [ numbers($bytes, \$at, $nsegments - ($_ == 0)) ] } 0 .. $DIRECTORY_COLUMNS - 1;
	return ($at, $end, @{ $column[4] });
}

# Where the statistics of the first segment begin.
sub statistics_of { return (directory($_[0]))[0] }

# Where each segment begins, with its length; and the end of the directory.
sub segments_of
{
	my ($bytes) = @_;
	my (undef, $end, @lengths) = directory($bytes);
	my @segments;
	my $start = $end;

	for (@lengths)
	{
		die "no segment\n" if $start + $_ > length $bytes || $_ < 4;
		push @segments, [ $start, $_ ];
		$start += $_;
	}
	return ($end, @segments);
}

# Returns the bytes with all checksums corrected that can be found.
sub with_checksums
{
	my ($bytes) = @_;
	my ($end, @segments) = eval { segments_of($bytes) };

	return $bytes unless defined $end;
	for (@segments)
	{
		my ($start, $length) = @$_;

		substr($bytes, $start, 4) = pack('V', crc32c(substr($bytes, $start + 4, $length - 4)));
	}
	substr($bytes, $GROUP_CRC_OFFSET, 4) = pack(
		'V',
		crc32c(
				substr($bytes, 0, $GROUP_CRC_OFFSET)
			  . substr($bytes, $GROUP_FIXED_LENGTH, $end - $GROUP_FIXED_LENGTH)));
	return $bytes;
}

sub random_bytes
{
	return pack('C*', map { int rand 256 } 1 .. $_[0]);
}

# Values of bytes that matter as lengths, counts or offsets.
my @words = (
	0, 1, 2, 4, 0x7FFFFFFF, 0x80000000,
	0xFFFFFFFF, 0x3FFFFFFF, 0x40000000, 0x10000001, 0x20000001, 0x50000000,
	0xFFFFFFFC);

# Returns the bytes changed at random, possibly mixed with others.
sub mutated
{
	my ($bytes, $others) = @_;

	for (1 .. 1 + int rand 3)
	{
		my $length = length $bytes;
		my $at = int rand($length + 1);
		my $how = int rand 9;

		if ($how < 2 && $at < $length)
		{
			substr($bytes, $at, 1) ^= chr(1 << int rand 8);
		}
		elsif ($how == 2 && $at < $length)
		{
			substr($bytes, $at, 1) = random_bytes(1);
		}
		elsif ($how == 3 && $length >= 4)
		{
			substr($bytes, 4 * int rand(int($length / 4)), 4) =
			  pack('V', $words[ rand @words ] + (rand() < 0.3 ? $length : 0) & 0xFFFFFFFF);
		}
		elsif ($how == 4) { $bytes = substr($bytes, 0, $at) }
		elsif ($how == 5) { $bytes .= random_bytes(1 + int rand 16) }
		elsif ($how == 6)
		{
			substr($bytes, $at, 0) = random_bytes(1 + int rand 8);
		}
		elsif ($how == 7 && $others) { $bytes = $others->[ rand @$others ] }
		elsif ($how == 8 && $at < $length)
		{
			substr($bytes, $at, 1 + int rand 8) = '';
		}
	}
	return $bytes;
}

1;
