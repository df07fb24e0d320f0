package remint;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UnsupportedEncodingException;
import java.net.HttpURLConnection;
import java.net.URL;
import java.net.URLEncoder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A client of the gateway for one app and one signed-in user, for Android and Java 8.
 *
 * <p>Each call blocks until there is an answer: the client repeats a failed call after the time of {@code Retry-After}. Never call the
 * client on Android's main thread. Callers of the same call share one request. An interrupt cancels only the interrupted caller. If the
 * gateway refuses a call permanently (400 to 499 except 408, 425 and 429), the call throws a {@link RemintException}. Tokens are in memory
 * only. Call {@link #close()} at sign-out.
 */
public final class RemintClient implements AutoCloseable {
    /** The session of the signed-in user. */
    public interface Session {
        /**
         * Returns the current session, printable ASCII without spaces; null if nobody is signed in. If the method throws, the client
         * tries again.
         */
        String get() throws Exception;
    }

    /** The receiver of a stream's tokens. The client calls it on one of its own threads. */
    public interface Listener {
        /** Receives each newer token. */
        void token(Answer answer);

        /** Receives the refusal that ends the stream. */
        void refused(RemintException refusal);
    }

    /** The milliseconds after which a try has failed: the gateway answers each call within 30 seconds. */
    private static final int TIMEOUT = 45_000;
    /** The milliseconds without a byte after which the client closes a stream: the gateway sends a heartbeat every 15 seconds. */
    private static final int SILENCE = 60_000;

    private final String base;
    private final String app;
    private final String device;
    private final Session session;
    private final ExecutorService threads = Executors.newCachedThreadPool(work -> {
        Thread thread = new Thread(work, "remint-client");
        thread.setDaemon(true);
        return thread;
    });

    // Guarded by this.
    private final KnownTokens known;
    private final Map<String, SharedCall> calls = new HashMap<>();
    private final Set<Course> streams = new HashSet<>();
    private SharedCall reporting;
    private boolean isClosed;

    /** Makes a client without a device's name. */
    public RemintClient(String url, String app, Session session) {
        this(url, app, null, session);
    }

    /**
     * Makes a client. The client makes no call yet.
     *
     * @param url the address of the gateway, such as {@code https://tokens.example.com}
     * @param app an app of the gateway's configuration
     * @param device the device's name, 1 to 128 printable ASCII characters without spaces; null for none
     * @param session returns the session of the user; the client calls it before each try
     */
    public RemintClient(String url, String app, String device, Session session) {
        this(url, app, device, session, Clock.SYSTEM);
    }

    RemintClient(String url, String app, String device, Session session, Clock clock) {
        known = new KnownTokens(clock);
        this.app = app;
        this.device = device;
        this.session = session;
        try {
            base = url.replaceAll("/+$", "") + "/v1/apps/" + URLEncoder.encode(app, "UTF-8").replace("+", "%20") + "/";
        } catch (UnsupportedEncodingException error) {
            throw new AssertionError(error);
        }
    }

    /** Returns a token with more than 60 seconds of life. */
    public Answer token() throws RemintException, InterruptedException {
        return token(60);
    }

    /**
     * Returns a token with more than {@code minLife} seconds of life, 0 to 86400. In the last tenth to fifth of a token's life, at most an
     * hour, the call returns the known token, and the client renews the token in the background.
     *
     * @throws RemintException if the gateway refuses the call
     * @throws InterruptedException if the caller's thread is interrupted
     */
    public Answer token(int minLife) throws RemintException, InterruptedException {
        for (;;) {
            SharedCall call;
            // The look and the call are one step. Between two steps the answer may come, and the caller would ask for it again.
            synchronized (this) {
                requireOpen();
                double life = known.life();
                if (life > minLife) {
                    if (known.isDue()) share(new TokenCall(Math.min(86400, (int) Math.ceil(life) + 1)));
                    return known.newest();
                }
                call = reporting; // The answer to a report is the next token.
                if (call == null) call = join(new TokenCall(minLife));
                else call.callers++;
            }
            try {
                return call.await();
            } catch (RemintException refusal) {
                if (call instanceof TokenCall || refusal.code.equals("closed")) throw refusal;
            }
        }
    }

    /**
     * Reports a failure of the vendor's SDK and returns the new token. The app passes this token to the SDK. Equal reports at the same
     * time share one call.
     *
     * @param json the report as the SDK gave it, a JSON object
     * @throws RemintException if the gateway refuses the report
     * @throws InterruptedException if the caller's thread is interrupted
     */
    public Answer report(String json) throws RemintException, InterruptedException {
        return join(new ReportCall(json)).await();
    }

    /**
     * Passes each newer token to {@code listener}, until {@link #close()} or a refusal. Returns at once.
     *
     * @throws RemintException if the client is closed
     */
    public synchronized void stream(Listener listener) throws RemintException {
        requireOpen();
        Course stream = new StreamCourse(listener);
        threads.execute(stream);
        streams.add(stream);
    }

    /** Tries again at once, unless the gateway named a time. Call this method when the app returns to the foreground. */
    public synchronized void resume() {
        for (Course call : calls.values()) call.wake();
        for (Course stream : streams) stream.wake();
    }

    /** Cancels every call and stream, and deletes the known tokens. Later calls throw {@code closed}. Call this method at sign-out. */
    @Override
    public void close() {
        List<Course> open;
        synchronized (this) {
            if (isClosed) return;
            isClosed = true;
            known.clear();
            open = new ArrayList<>(streams);
            open.addAll(calls.values());
        }
        // Closing a connection may do I/O, which Android refuses on its main thread.
        threads.execute(() -> {
            for (Course course : open) course.cancel();
            threads.shutdown();
        });
    }

    private RemintException closed() {
        return new RemintException(app, 0, "closed", null);
    }

    private void requireOpen() throws RemintException {
        if (isClosed) throw closed();
    }

    /** Adds a caller to the equal call that has begun, or begins the call. */
    private synchronized SharedCall join(SharedCall wanted) throws RemintException {
        requireOpen();
        boolean isNew = !calls.containsKey(wanted.key);
        SharedCall call = share(wanted);
        call.callers++;
        // At once: no caller of token() may get this token from now on.
        if (isNew && call instanceof ReportCall) known.refuse(((ReportCall) call).challenge);
        if (call instanceof ReportCall && ((ReportCall) call).challenge.isEmpty()) reporting = call;
        return call;
    }

    /** Begins a call, unless an equal one has begun. */
    private SharedCall share(SharedCall wanted) {
        SharedCall call = calls.get(wanted.key);
        if (call != null) return call;
        threads.execute(wanted); // This is first: if no thread can start, no caller may join the call.
        calls.put(wanted.key, wanted);
        return wanted;
    }

    private synchronized void forget(SharedCall call) {
        if (calls.get(call.key) == call) calls.remove(call.key);
        if (reporting == call) reporting = null;
    }

    private synchronized Answer keep(Answer answer) throws RemintException {
        requireOpen();
        return known.keep(answer, ThreadLocalRandom.current().nextDouble());
    }

    private static boolean isFinal(int status) {
        return status >= 400 && status < 500 && status != 408 && status != 425 && status != 429;
    }

    /** Opens a connection with the current session. The session is only in a header, because servers log addresses. */
    private HttpURLConnection open(Course course, String path, int timeout) throws IOException, RemintException {
        String value;
        try {
            value = session.get();
        } catch (Exception error) {
            throw new IOException("the session is unknown at the moment");
        }
        if (value == null) throw new RemintException(app, 0, "no_session", null);
        // Otherwise HttpURLConnection throws an exception with the session in its text.
        if (!value.matches("[!-~]+")) throw new RemintException(app, 0, "invalid_session", "not printable ASCII without spaces");
        HttpURLConnection connection = (HttpURLConnection) new URL(base + path).openConnection();
        connection.setConnectTimeout(10_000);
        connection.setReadTimeout(timeout);
        connection.setUseCaches(false);
        connection.setInstanceFollowRedirects(false); // A redirect must not send the session to another server.
        connection.setRequestProperty("Authorization", "Bearer " + value);
        if (device != null) connection.setRequestProperty("Remint-Device", device);
        course.connect(connection);
        return connection;
    }

    /** A call that has not finished, with the number of its callers. */
    private abstract class SharedCall extends Course {
        final String key;
        int callers; // Guarded by the client.
        private Answer answer; // This field and the following ones are guarded by the call.
        private RemintException refusal;
        private Throwable failure; // A RuntimeException or an Error.
        private boolean isOver;

        SharedCall(String key) {
            this.key = key;
        }

        abstract Answer perform() throws RemintException;

        @Override
        public void run() {
            Answer found = null;
            RemintException refused = null;
            Throwable failed = null;
            try {
                found = perform();
            } catch (RemintException error) {
                refused = error;
            } catch (CancellationException error) {
                refused = closed();
            } catch (RuntimeException error) {
                // The caller gets this error. A connection that cancel() closes may throw too.
                if (isCanceled()) refused = closed();
                else failed = error;
            } catch (Throwable error) {
                failed = error;
                throw error; // The thread gets an Error too. The callers must not wait forever.
            } finally {
                forget(this);
                synchronized (this) {
                    answer = found;
                    refusal = refused;
                    failure = failed;
                    isOver = true;
                    notifyAll();
                }
            }
        }

        /** Waits for the answer. If all callers are interrupted, the last of them cancels the call. */
        Answer await() throws RemintException, InterruptedException {
            try {
                synchronized (this) {
                    while (!isOver) wait();
                }
                // The app may have closed the client after the answer came. No code takes the client's lock while it has a call's lock.
                synchronized (RemintClient.this) {
                    requireOpen();
                }
                synchronized (this) {
                    if (refusal != null) throw refusal;
                    if (failure instanceof Error) throw (Error) failure;
                    if (failure != null) throw (RuntimeException) failure;
                    return answer;
                }
            } catch (InterruptedException error) {
                leave();
                throw error;
            }
        }

        private void leave() {
            synchronized (RemintClient.this) {
                if (--callers > 0 || isClosed) return;
                forget(this);
                threads.execute(this::cancel);
            }
        }

        /** Repeats a call until there is an answer. */
        final Answer ask(String first, byte[] report) throws RemintException {
            String path = first;
            byte[] body = report;
            int polls = 0;
            for (int tries = 1;; tries++) {
                double after = -1;
                long start = System.nanoTime();
                try {
                    HttpURLConnection call = open(this, path, TIMEOUT);
                    if (body != null) send(call, body);
                    else begin(call);
                    int status = call.getResponseCode();
                    after = retryAfter(call);
                    String text = body(call);
                    if (isFinal(status)) throw RemintException.of(app, status, text);
                    Answer found = status == 200 ? Answer.read(text) : null;
                    if (found != null) return found;
                    String next = Json.text(Json.members(Json.read(text)).get("token_url"));
                    if (status == 202 && next != null) {
                        path = "token?" + next.substring(next.indexOf('?') + 1) + "&wait=25";
                        body = null;
                        polls = 0;
                        tries = 0;
                    } else if (status == 204) {
                        if (++polls > 1) {
                            path = first;
                            body = report;
                        }
                        // A server that waited for a token works. If the server answers at once, the client makes longer and longer pauses.
                        if (System.nanoTime() - start >= 1_000_000_000L) tries = 0;
                    }
                } catch (IOException error) {
                    requireUncanceled();
                }
                pause(after, tries);
            }
        }

        private void send(HttpURLConnection call, byte[] report) throws IOException {
            call.setRequestMethod("POST");
            call.setRequestProperty("Content-Type", "application/json");
            call.setRequestProperty("Prefer", "wait=10");
            call.setDoOutput(true);
            begin(call);
            OutputStream out = call.getOutputStream();
            try {
                out.write(report);
            } finally {
                out.close();
            }
        }
    }

    private final class TokenCall extends SharedCall {
        private final int life;

        TokenCall(int life) {
            super("token " + life);
            this.life = life;
        }

        @Override
        Answer perform() throws RemintException {
            return keep(ask("token?min_life=" + life, null));
        }
    }

    private final class ReportCall extends SharedCall {
        private final String json;
        final String challenge;

        ReportCall(String json) {
            super("report " + json);
            this.json = json;
            String nonce = Json.text(Json.members(Json.read(json)).get("nonce"));
            challenge = nonce == null ? "" : nonce;
        }

        @Override
        Answer perform() throws RemintException {
            try {
                return keep(ask("reports", json.getBytes("UTF-8")));
            } catch (UnsupportedEncodingException error) {
                throw new AssertionError(error);
            }
        }
    }

    /** A stream and its connections. Each connection starts after the newest known version. */
    private final class StreamCourse extends Course {
        private final Listener listener;
        private double retry = 2;
        private int drops;
        private double after;

        StreamCourse(Listener listener) {
            this.listener = listener;
        }

        @Override
        public void run() {
            try {
                for (;;) {
                    drops++;
                    after = -1;
                    try {
                        read();
                    } catch (IOException error) {
                        requireUncanceled();
                    }
                    if (drops > 0) pause(after, drops);
                    else pause(retry * (0.5 + ThreadLocalRandom.current().nextDouble()), false);
                }
            } catch (CancellationException error) {
                // The client is closed.
            } catch (RuntimeException error) {
                if (!isCanceled()) throw error; // The listener threw this error.
            } catch (RemintException refusal) {
                synchronized (RemintClient.this) {
                    if (isClosed) return;
                }
                listener.refused(refusal);
            } finally {
                synchronized (RemintClient.this) {
                    streams.remove(this);
                }
            }
        }

        private void read() throws IOException, RemintException {
            HttpURLConnection call = open(this, "token/stream", SILENCE);
            call.setRequestProperty("Accept", "text/event-stream");
            synchronized (RemintClient.this) {
                call.setRequestProperty("Last-Event-ID", Long.toString(known.version()));
            }
            begin(call);
            int status = call.getResponseCode();
            after = retryAfter(call);
            if (isFinal(status)) throw RemintException.of(app, status, body(call));
            String type = call.getContentType();
            if (status != 200 || type == null || !type.contains("event-stream")) {
                call.disconnect();
                return;
            }
            drops = 0;
            try (BufferedReader lines = new BufferedReader(new InputStreamReader(call.getInputStream(), "UTF-8"))) {
                Map<String, String> event = new HashMap<>();
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    if (line.isEmpty()) {
                        hear(event);
                        event.clear();
                    } else if (line.indexOf(':') > 0) {
                        String value = line.substring(line.indexOf(':') + 1);
                        event.put(line.substring(0, line.indexOf(':')), value.startsWith(" ") ? value.substring(1) : value);
                    }
                }
            } finally {
                call.disconnect();
            }
        }

        private void hear(Map<String, String> event) throws RemintException {
            requireUncanceled();
            String milliseconds = event.get("retry");
            if (milliseconds != null && milliseconds.matches("[0-9]{1,7}")) {
                retry = Math.min(3600, Math.max(0.5, Integer.parseInt(milliseconds) / 1000.0));
            }
            if (!"token".equals(event.get("event")) || event.get("data") == null) return;
            Answer answer = Answer.read(event.get("data"));
            if (answer == null) return;
            synchronized (RemintClient.this) {
                if (isClosed) throw new CancellationException();
                if (answer.version <= known.version()) return;
                keep(answer);
            }
            listener.token(answer);
        }
    }
}
