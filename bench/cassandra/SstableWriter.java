import java.io.IOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.io.sstable.CQLSSTableWriter;

/**
 * Turns COPY text on standard input into files that Cassandra imports, which is
 * how its documentation has large amounts loaded.
 *
 *     SstableWriter DIRECTORY "CREATE TABLE ..." "INSERT INTO ..." TYPE,...
 *
 * The types are those of the text's columns.  The INSERT has their values in the
 * same order, and the day of the second one, the clock, after them.
 */
public final class SstableWriter {
    private static final int SECONDS_A_DAY = 86400;
    private static final int CLOCK = 1;
    private static final int BUFFER_MB = 32;

    // what has been read of standard input, and the column taken from it: unlike
    // Java's own streams they take no lock for each byte
    private final byte[] buffer = new byte[1 << 20];
    private int place;
    private int filled;
    private byte[] field = new byte[256];
    private int delimiter;

    private int next() throws IOException {
        if (place == filled) {
            place = 0;
            filled = System.in.read(buffer);
        }
        return filled < 0 ? -1 : buffer[place++] & 0xff;
    }

    /** The next column's text without its escapes; null at the end of all. */
    private String column() throws IOException {
        int length = 0;
        for (;;) {
            int next = next();
            if (next == '\t' || next == '\n' || next < 0) {
                delimiter = next;
                return next < 0 && length == 0 ? null
                    : new String(field, 0, length, StandardCharsets.UTF_8);
            }
            if (length == field.length)
                field = Arrays.copyOf(field, 2 * length);
            field[length++] = (byte) (next == '\\' ? unescaped(next()) : next);
        }
    }

    /** What COPY writes a backslash and this letter for. */
    private static int unescaped(int letter) {
        int place = "bfnrtv".indexOf(letter);
        return place < 0 ? letter : "\b\f\n\r\t\u000b".charAt(place);
    }

    /** A column's text as the server keeps a value of the type. */
    private static ByteBuffer value(String type, String text) {
        switch (type) {
            case "bigint":
                return ByteBuffer.allocate(8).putLong(0, Long.parseLong(text));
            case "int":
                return ByteBuffer.allocate(4).putInt(0, Integer.parseInt(text));
            case "double":
                return ByteBuffer.allocate(8).putDouble(0, Double.parseDouble(text));
            case "varint":
                return ByteBuffer.wrap(new BigInteger(text).toByteArray());
            default:
                return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
        }
    }

    /** The next line's values and its day; null at the end. */
    private List<ByteBuffer> row(String[] types) throws IOException {
        List<ByteBuffer> row = new ArrayList<>(types.length + 1);
        for (String type : types) {
            String text = column();
            if (text == null)
                return null;
            row.add(value(type, text));
        }
        if (delimiter != '\n')
            throw new IOException("a line has more columns than there are types");
        row.add(ByteBuffer.allocate(4).putInt(0, row.get(CLOCK).getInt(0) / SECONDS_A_DAY));
        return row;
    }

    public static void main(String[] arguments) throws Exception {
        DatabaseDescriptor.toolInitialization();    // the files' format is the server's
        String[] types = arguments[3].split(",");
        SstableWriter reader = new SstableWriter();
        try (CQLSSTableWriter writer = CQLSSTableWriter.builder().inDirectory(arguments[0])
                .forTable(arguments[1]).using(arguments[2])
                .withMaxSSTableSizeInMiB(BUFFER_MB).build()) {
            for (List<ByteBuffer> row = reader.row(types); row != null; row = reader.row(types))
                writer.rawAddRow(row);
        }
        System.exit(0);     // the server's classes leave threads behind
    }
}
