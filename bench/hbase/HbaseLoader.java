import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;

/**
 * The loader for HBase: takes those options of bench/loader that its stream and
 * its runs need, and speaks the same handshake.  A row's key is itemid, clock
 * and ns; a batch is one put of a list, which does not wait for the log.
 */
public final class HbaseLoader {
    private static final byte[] FAMILY = {'v'};
    private static final byte[] QUALIFIER = {};
    private static final int SCAN_ROWS = 5000;

    private final Options options;
    private final Stream stream;
    private final TableName name;
    private final Connection connection;
    private final BufferedReader input = new BufferedReader(new InputStreamReader(System.in));

    // of the phase that runs
    private final AtomicLong nextBatch = new AtomicLong();
    private long firstBatch;
    private long endBatch;
    private double started;
    private double seconds;
    private double rate;

    // what the threads have counted
    private final List<Double> latencies = new ArrayList<>();
    private final List<Double> delays = new ArrayList<>();
    private long values;
    private long valuesInTime;
    private long lost;
    private long failed;

    private HbaseLoader(Options options) throws Exception {
        this.options = options;
        stream = new Stream(options);
        name = TableName.valueOf(options.text("table"));
        Configuration configuration = HBaseConfiguration.create();
        connection = ConnectionFactory.createConnection(configuration);
    }

    private static double now() {
        java.time.Instant instant = java.time.Instant.now();
        return instant.getEpochSecond() + instant.getNano() * 1e-9;
    }

    private static byte[] key(Stream.Value value) {
        return ByteBuffer.allocate(16).putLong(value.itemid).putInt(value.clock)
            .putInt(value.ns).array();
    }

    private static List<Put> puts(Stream.Value[] batch) {
        List<Put> puts = new ArrayList<>(batch.length);
        for (Stream.Value value : batch) {
            byte[] number = ByteBuffer.allocate(8).putDouble(value.number).array();
            puts.add(new Put(key(value)).addColumn(FAMILY, QUALIFIER, number)
                     .setDurability(Durability.ASYNC_WAL));
        }
        return puts;
    }

    /** When a batch is due: now, or by the offered rate. */
    private double due(long batch) {
        return rate <= 0 ? now() : started + (batch - firstBatch) * stream.batch / rate;
    }

    /** The next batch; -1 when the phase is over. */
    private long takeBatch() {
        long batch = nextBatch.getAndIncrement();
        boolean isOver = batch >= endBatch
            || seconds > 0 && options.has("cut") && now() >= started + seconds
            || seconds > 0 && due(batch) >= started + seconds;
        return isOver ? -1 : batch;
    }

    private synchronized void count(int rows, double latency, double end, double due,
                                    boolean isStored) {
        latencies.add(latency);
        delays.add(end - due);
        if (!isStored) {
            failed++;
            lost += rows;
            return;
        }
        values += rows;
        if (seconds <= 0 || end <= started + seconds)
            valuesInTime += rows;
    }

    /** A thread: batch after batch. */
    private void writeBatches() {
        try (Table table = connection.getTable(name)) {
            for (long batch = takeBatch(); batch >= 0; batch = takeBatch()) {
                double due = due(batch);
                List<Put> puts = puts(stream.batch(batch));
                if (due > now())
                    Thread.sleep((long) ((due - now()) * 1e3));
                double begun = now();
                boolean isStored = true;
                try {
                    table.put(puts);
                } catch (java.io.IOException error) {
                    System.err.println("loader: " + error);
                    isStored = false;
                }
                count(stream.batch(batch).length, now() - begun, now(), due, isStored);
            }
        } catch (Exception error) {
            System.err.println("loader: " + error);
            System.exit(1);
        }
    }

    /** Runs a phase on all threads; returns how long it took. */
    private double runPhase(long first, long end, double seconds, double rate) throws Exception {
        firstBatch = first;
        endBatch = end;
        this.seconds = seconds;
        this.rate = rate;
        nextBatch.set(first);
        started = now();
        Thread[] threads = new Thread[(int) options.number("connections", 1)];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(this::writeBatches);
            threads[i].start();
        }
        for (Thread thread : threads)
            thread.join();
        return now() - started;
    }

    private void waitForCaller() throws Exception {
        System.out.flush();
        if (options.has("handshake") && input.readLine() == null)
            System.exit(1);
    }

    private static String summary(List<Double> taken) {
        double[] sorted = taken.stream().mapToDouble(each -> each * 1e3).sorted().toArray();
        if (sorted.length == 0)
            sorted = new double[1];
        double[] shown = new double[4];
        double[] fractions = {0.5, 0.95, 0.99, 1};
        for (int i = 0; i < shown.length; i++)
            shown[i] = sorted[(int) Math.min(sorted.length - 1, fractions[i] * sorted.length)];
        return String.format(Locale.ROOT, "{\"mean\": %.4f, \"p50\": %.4f, \"p95\": %.4f, "
                             + "\"p99\": %.4f, \"max\": %.4f}",
                             Arrays.stream(sorted).average().orElse(0), shown[0], shown[1],
                             shown[2], shown[3]);
    }

    private void printResult(double elapsed) {
        String errors = failed > 0 ? "\"IOException\": " + failed : "";
        System.out.printf(Locale.ROOT, "{\"event\": \"done\", \"values\": %d, \"seconds\": %.6f, "
                          + "\"values_in_time\": %d, \"values_per_second\": %.1f, "
                          + "\"batches\": %d, \"statements\": %d, \"duplicates\": 0, "
                          + "\"lost\": %d, \"failed\": {%s}, \"pids\": [], \"insert_ms\": %s, "
                          + "\"batch_ms\": %s}%n", values, elapsed, valuesInTime,
                          values / elapsed, delays.size(), latencies.size(), lost, errors,
                          summary(latencies), summary(delays));
    }

    /** Warm-up and measured run, as in loader.c. */
    private void write() throws Exception {
        long end = options.number("first-pass", 0) * stream.batchesPerPass
            + stream.batchesFor(options.number("warmup", 0));
        runPhase(options.number("first-pass", 0) * stream.batchesPerPass, end, 0, 0);
        latencies.clear();
        delays.clear();
        values = valuesInTime = 0;
        System.out.println("{\"event\": \"ready\", \"pids\": []}");
        waitForCaller();
        long wanted = options.number("values", 0);
        printResult(runPhase(end, wanted > 0 ? end + stream.batchesFor(wanted) : Long.MAX_VALUE,
                             options.real("seconds", 0), options.real("rate", 0)));
        waitForCaller();
    }

    /** Reads all rows back, and prints their digest. */
    private void readBack() throws Exception {
        long rows = 0;
        long sum = 0;
        Stream.Value value = new Stream.Value();
        try (Table table = connection.getTable(name);
             ResultScanner results = table.getScanner(new Scan().setCaching(SCAN_ROWS))) {
            for (Result result : results) {
                ByteBuffer key = ByteBuffer.wrap(result.getRow());
                value.itemid = key.getLong();
                value.clock = key.getInt();
                value.ns = key.getInt();
                value.number = ByteBuffer.wrap(result.getValue(FAMILY, QUALIFIER)).getDouble();
                sum += Stream.digest(value);
                rows++;
            }
        }
        System.out.printf("{\"rows\": %d, \"checksum\": \"%016x\"}%n", rows, sum);
    }

    private void create() throws Exception {
        try (Admin admin = connection.getAdmin()) {
            admin.createTable(TableDescriptorBuilder.newBuilder(name)
                .setColumnFamily(ColumnFamilyDescriptorBuilder.of(FAMILY)).build());
        }
    }

    private void clean() throws Exception {
        try (Admin admin = connection.getAdmin()) {
            admin.disableTable(name);
            admin.truncateTable(name, true);
        }
    }

    private void drop() throws Exception {
        try (Admin admin = connection.getAdmin()) {
            admin.disableTable(name);
            admin.deleteTable(name);
        }
    }

    public static void main(String[] arguments) throws Exception {
        Options options = new Options(arguments);
        HbaseLoader loader = new HbaseLoader(options);
        if (options.has("create"))
            loader.create();
        else if (options.has("clean"))
            loader.clean();
        else if (options.has("drop"))
            loader.drop();
        else if (options.has("read-back"))
            loader.readBack();
        else
            loader.write();
        loader.connection.close();
    }
}
