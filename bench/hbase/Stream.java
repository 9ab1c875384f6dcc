/**
 * The values a simulated Zabbix collects: loader/stream.c once more, floats only.
 * What a server holds of them must have the digest that "loader --digest" prints.
 */
final class Stream {
    static final long FIRST_ITEMID = 100000;

    /** One value. */
    static final class Value {
        long itemid;
        int clock;
        int ns;
        double number;
    }

    final long items;
    final int batch;
    final long batchesPerPass;
    private final long seed;
    private final int clock;
    private final int step;
    private final int[] order;

    Stream(Options options) {
        items = options.number("items", 30000);
        batch = (int) options.number("batch", 1000);
        seed = options.number("seed", 1);
        clock = (int) options.number("clock", 0);
        step = (int) options.number("step", 60);
        batchesPerPass = (items + batch - 1) / batch;
        order = new int[(int) items];
        int filled = 0;
        for (int second = 0; second < step; second++)
            for (long item = second; item < items; item += step)
                order[filled++] = (int) item;
        for (int from = 0; from < items; from += batch)
            java.util.Arrays.sort(order, from, (int) Math.min(from + batch, items));
    }

    /** splitmix64's finaliser. */
    static long hash(long x) {
        x += 0x9e3779b97f4a7c15L;
        x = (x ^ (x >>> 30)) * 0xbf58476d1ce4e5b9L;
        x = (x ^ (x >>> 27)) * 0x94d049bb133111ebL;
        return x ^ (x >>> 31);
    }

    /** A row's part of a digest, as digest.c has it. */
    static long digest(Value value) {
        long hash = hash(value.itemid * 5);
        hash = hash(hash ^ value.clock);
        hash = hash(hash ^ value.ns);
        return hash(hash ^ Double.doubleToRawLongBits(value.number));
    }

    private static double number(long itemid, long random) {
        switch ((int) (itemid % 3)) {
            case 0:
                return (double) (random % 10000) / 100;
            case 1:
                return (double) (random & 0xfffffffffffffL) / 3e11;
            default:
                return (double) (random % 4096) * 1048576;
        }
    }

    private Value value(long item, long pass) {
        long random = hash(hash(seed + item) + pass);
        Value value = new Value();
        value.itemid = FIRST_ITEMID + item;
        value.clock = clock + (int) (pass * step) + (int) (item % step);
        value.ns = (int) Long.remainderUnsigned(random, 1000000000L);
        value.number = number(value.itemid, hash(random ^ 0x5bd1e995L) >>> 8);
        return value;
    }

    /** The values of a batch, sorted by item. */
    Value[] batch(long number) {
        long pass = number / batchesPerPass;
        int from = (int) (number % batchesPerPass) * batch;
        Value[] values = new Value[(int) Math.min(batch, items - from)];
        for (int i = 0; i < values.length; i++)
            values[i] = value(order[from + i], pass);
        return values;
    }

    /** How many batches hold so many values. */
    long batchesFor(long values) {
        return values / items * batchesPerPass + (values % items + batch - 1) / batch;
    }
}
