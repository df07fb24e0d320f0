package remint;

import java.text.ParseException;
import java.text.SimpleDateFormat;
import java.util.Date;
import java.util.Locale;
import java.util.TimeZone;

/** The time between two tries, in seconds. */
final class RetryDelay {
    private static final double LIMIT = 3600;
    private static final double CAP = 30;
    private static final String[] FORMS = {
        "EEE, dd MMM yyyy HH:mm:ss zzz", "EEEE, dd-MMM-yy HH:mm:ss zzz", "EEE MMM d HH:mm:ss yyyy"
    };

    private RetryDelay() {}

    /**
     * Returns the seconds of the header {@code Retry-After}, at most an hour; -1 without the header. The header is a number or a date
     * (RFC 9110, section 10.2.3). The method compares a date with {@code served}, the server's time, or else with the device's clock.
     */
    static double retryAfter(String field, String served, long nowMillis) {
        if (field == null) return -1;
        String text = field.trim();
        if (text.matches("[0-9]+")) return Math.min(Double.parseDouble(text), LIMIT);
        Date due = date(text);
        if (due == null) return -1;
        Date start = served == null ? null : date(served.trim());
        double seconds = (due.getTime() - (start == null ? nowMillis : start.getTime())) / 1000.0;
        return seconds < 0 ? -1 : Math.min(seconds, LIMIT);
    }

    /** Returns the seconds until the next try: a random time (full jitter), added to the time of {@code Retry-After}. */
    static double seconds(double retryAfter, int tries, double random) {
        double spread = Math.min(CAP, Math.pow(2, Math.min(tries, 10)) / 4);
        if (retryAfter < 0) return random * spread;
        return retryAfter + random * Math.min(spread, 1 + retryAfter / 2);
    }

    private static Date date(String text) {
        for (String form : FORMS) {
            SimpleDateFormat format = new SimpleDateFormat(form, Locale.US);
            format.setTimeZone(TimeZone.getTimeZone("GMT"));
            try {
                return format.parse(text);
            } catch (ParseException error) {
                // Try the next form.
            }
        }
        return null;
    }
}
