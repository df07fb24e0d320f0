package remint;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ThreadLocalRandom;

/** The tries of one call or stream. Another thread can cancel them. */
abstract class Course implements Runnable {
    private static final int BODY = 1 << 20;

    private HttpURLConnection connection;
    private boolean isCanceled;
    private boolean isWoken;

    /** Cancels the current connection and each pause. */
    final void cancel() {
        HttpURLConnection open;
        synchronized (this) {
            isCanceled = true;
            open = connection;
            notifyAll();
        }
        if (open != null) open.disconnect();
    }

    /** Ends the current pause, unless the gateway named its length. */
    final synchronized void wake() {
        isWoken = true;
        notifyAll();
    }

    final synchronized boolean isCanceled() {
        return isCanceled;
    }

    final synchronized void requireUncanceled() {
        if (isCanceled) throw new CancellationException();
    }

    /** Sets the current connection, which {@link #cancel} closes. */
    final void connect(HttpURLConnection next) {
        synchronized (this) {
            connection = next;
        }
        requireUncanceled();
    }

    /** Opens the connection's socket. Before there is one, {@link #cancel} cannot close it, so this method looks again. */
    final void begin(HttpURLConnection call) throws IOException {
        call.connect();
        if (!isCanceled()) return;
        call.disconnect();
        throw new CancellationException();
    }

    /** Waits after {@code tries} failed tries. {@code retryAfter} is -1 if the answer has no such header. */
    final void pause(double retryAfter, int tries) {
        pause(RetryDelay.seconds(retryAfter, tries, ThreadLocalRandom.current().nextDouble()), retryAfter >= 0);
    }

    final synchronized void pause(double seconds, boolean isFixed) {
        long due = System.nanoTime() + (long) (seconds * 1e9);
        isWoken = false;
        for (long left = due - System.nanoTime(); left > 0 && !isCanceled; left = due - System.nanoTime()) {
            if (isWoken && !isFixed) break;
            try {
                wait(left / 1_000_000 + 1);
            } catch (InterruptedException error) {
                isCanceled = true; // Only the client interrupts its own threads.
            }
        }
        requireUncanceled();
    }

    /** Returns the seconds of {@code Retry-After}; -1 without this header. */
    static double retryAfter(HttpURLConnection answer) {
        return RetryDelay.retryAfter(
                answer.getHeaderField("Retry-After"), answer.getHeaderField("Date"), System.currentTimeMillis());
    }

    /** Reads the body of an answer of any status. */
    static String body(HttpURLConnection answer) throws IOException {
        InputStream input = answer.getResponseCode() < 400 ? answer.getInputStream() : answer.getErrorStream();
        if (input == null) return "";
        try {
            ByteArrayOutputStream body = new ByteArrayOutputStream();
            byte[] part = new byte[8192];
            for (int count = input.read(part); count >= 0; count = input.read(part)) {
                body.write(part, 0, count);
                if (body.size() > BODY) throw new IOException("the answer is too long");
            }
            return body.toString("UTF-8");
        } finally {
            input.close();
        }
    }
}
