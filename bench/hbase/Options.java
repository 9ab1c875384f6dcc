import java.util.HashMap;
import java.util.Map;

/** A command line of --name=value and --name. */
final class Options {
    private final Map<String, String> values = new HashMap<>();

    Options(String[] arguments) {
        for (String argument : arguments) {
            String[] parts = argument.replaceFirst("^--", "").split("=", 2);
            values.put(parts[0], parts.length > 1 ? parts[1] : "");
        }
    }

    boolean has(String name) {
        return values.containsKey(name);
    }

    String text(String name) {
        return values.get(name);
    }

    long number(String name, long otherwise) {
        return has(name) ? Long.parseLong(values.get(name)) : otherwise;
    }

    double real(String name, double otherwise) {
        return has(name) ? Double.parseDouble(values.get(name)) : otherwise;
    }
}
