package remint;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;

/** Checks of the Java client before a scripted gateway. Prints one line for each check, and exits with 1 if one of them fails. */
public final class ClientChecks {
    private static final String STREAM = "text/event-stream";
    private static final ExecutorService THREADS = Executors.newCachedThreadPool();
    /** The answer to a call that no script has. It is final: a check fails, and does not wait forever. */
    private static final Step UNEXPECTED = step(410, "{\"code\":\"unexpected_call\"}");
    private static int failures;

    /** An answer to one call. */
    private static final class Step {
        final int status;
        final String type;
        final String body;
        final String retryAfter;
        /** Counted down once the answer may go. */
        final CountDownLatch gate;

        Step(int status, String type, String body, String retryAfter, CountDownLatch gate) {
            this.status = status;
            this.type = type;
            this.body = body;
            this.retryAfter = retryAfter;
            this.gate = gate;
        }
    }

    private static Step step(int status, String body) {
        return new Step(status, "application/json", body, null, new CountDownLatch(0));
    }

    private static Step later(int status, String retryAfter) {
        return new Step(status, "text/html", "<html>", retryAfter, new CountDownLatch(0));
    }

    private static Step held(CountDownLatch gate, String body) {
        return new Step(200, "application/json", body, null, gate);
    }

    private static Step stream(String body) {
        return new Step(200, STREAM, body, null, new CountDownLatch(0));
    }

    private static String token(long version, long life) {
        return "{\"app\":\"shop\",\"vendor\":\"braze\",\"token\":\"e.secret.s\",\"expires_at\":9,\"expires_in\":" + life
                + ",\"server_time\":1,\"version\":" + version + ",\"apply\":{\"call\":\"set(jwt)\"}}";
    }

    private static String event(long version) {
        return "id: " + version + "\nevent: token\ndata: " + token(version, 3600) + "\n\n";
    }

    /** A gateway that answers one call after the other as a script demands. */
    private static final class Gateway implements AutoCloseable {
        final BlockingQueue<String> arrivals = new LinkedBlockingQueue<>();
        final List<String> calls = new ArrayList<>();
        private final Deque<Step> steps;
        private final HttpServer server;
        private final ExecutorService threads = Executors.newCachedThreadPool();

        Gateway(Step... steps) throws IOException {
            this.steps = new ArrayDeque<>(Arrays.asList(steps));
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            server.createContext("/", this::answer);
            server.setExecutor(threads);
            server.start();
        }

        RemintClient client() {
            return client(Clock.SYSTEM);
        }

        RemintClient client(Clock clock) {
            String url = "http://127.0.0.1:" + server.getAddress().getPort() + "/";
            return new RemintClient(url, "shop/ios", "d-1", () -> "s-1", clock);
        }

        private void answer(HttpExchange call) throws IOException {
            Step step;
            synchronized (calls) {
                String last = call.getRequestHeaders().getFirst("Last-Event-ID");
                calls.add(call.getRequestMethod() + " " + call.getRequestURI() + (last == null ? "" : " " + last));
                step = steps.isEmpty() ? UNEXPECTED : steps.removeFirst();
            }
            arrivals.add(call.getRequestHeaders().getFirst("Authorization"));
            while (call.getRequestBody().read() >= 0) {}
            try {
                step.gate.await();
            } catch (InterruptedException error) {
                return;
            }
            call.getResponseHeaders().set("Content-Type", step.type);
            if (step.retryAfter != null) call.getResponseHeaders().set("Retry-After", step.retryAfter);
            byte[] body = step.body.getBytes("UTF-8");
            call.sendResponseHeaders(step.status, step.status == 204 ? -1 : body.length);
            call.getResponseBody().write(step.status == 204 ? new byte[0] : body);
            call.close();
        }

        @Override
        public void close() {
            server.stop(0);
            threads.shutdownNow();
        }
    }

    private static void check(String name, Callable<Boolean> body) {
        String result;
        try {
            result = body.call() ? "ok" : "failed";
        } catch (Throwable error) {
            result = "failed: " + error;
        }
        if (!result.equals("ok")) failures++;
        System.out.println(name + ": " + result);
    }

    private static RemintException refusal(Callable<?> call) throws Exception {
        try {
            call.call();
            return null;
        } catch (RemintException refusal) {
            return refusal;
        }
    }

    public static void main(String[] arguments) {
        check("Retry-After is a number or a date", ClientChecks::delays);
        check("a report gets its token through refusals", ClientChecks::perseverance);
        for (int status : new int[] {400, 401, 403, 404, 409, 410, 422}) {
            check("a refusal of status " + status + " is an exception", () -> refused(status));
        }
        check("callers share one call, and one leaves alone", ClientChecks::sharing);
        check("a caller that comes with the answer makes no call", ClientChecks::arriving);
        check("the last caller cancels the call", ClientChecks::lastCaller);
        check("a closed client cancels its calls", ClientChecks::closing);
        check("no older token follows a newer one", ClientChecks::versions);
        check("a token is renewed in the background", ClientChecks::renewal);
        check("a stream goes on after the newest token", ClientChecks::streaming);
        check("an answer prints no token", () -> !Answer.read(token(1, 9)).toString().contains("secret"));
        check("text that is no JSON is null", ClientChecks::json);
        THREADS.shutdownNow();
        System.exit(failures == 0 ? 0 : 1);
    }

    private static boolean delays() {
        String served = "Sun, 06 Nov 1994 08:49:37 GMT";
        return RetryDelay.retryAfter("7", null, 0) == 7 && RetryDelay.retryAfter("99999", null, 0) == 3600
                && RetryDelay.retryAfter("Sun, 06 Nov 1994 08:49:47 GMT", served, 0) == 10
                && RetryDelay.retryAfter("Sunday, 06-Nov-94 08:49:47 GMT", served, 0) == 10
                && RetryDelay.retryAfter("Sun Nov  6 08:49:47 1994", served, 0) == 10
                && RetryDelay.retryAfter("Sun, 06 Nov 1994 08:49:40 GMT", null, 784111777000L) == 3
                && RetryDelay.retryAfter("soon", null, 0) == -1 && RetryDelay.retryAfter(null, null, 0) == -1
                && RetryDelay.seconds(10, 60, 0) == 10 && RetryDelay.seconds(10, 60, 1) <= 16
                && RetryDelay.seconds(-1, 60, 1) == 30 && RetryDelay.seconds(-1, 1, 1) == 0.5 && RetryDelay.seconds(-1, 9, 0) == 0;
    }

    private static boolean perseverance() throws Exception {
        String pending = "{\"token_url\":\"/v1/apps/shop/token?after=4\"}";
        try (Gateway gateway = new Gateway(later(429, "0"), later(503, "0"), later(302, null), later(200, null), later(502, "0"),
                step(202, pending), step(204, ""), step(204, ""), step(202, pending), step(200, token(5, 3600)));
                RemintClient client = gateway.client()) {
            Answer answer = client.report("{\"errorCode\":22,\"userId\":null}");
            String report = "POST /v1/apps/shop%2Fios/reports";
            String poll = "GET /v1/apps/shop%2Fios/token?after=4&wait=25";
            return answer.version == 5 && gateway.arrivals.take().equals("Bearer s-1")
                    && gateway.calls.equals(Arrays.asList(report, report, report, report, report, report, poll, poll, report, poll));
        }
    }

    private static boolean refused(int status) throws Exception {
        Step refusal = step(status, "{\"code\":\"a_code\",\"detail\":\"why\",\"status\":1}");
        BlockingQueue<RemintException> streamed = new LinkedBlockingQueue<>();
        try (Gateway gateway = new Gateway(refusal, refusal, refusal); RemintClient client = gateway.client()) {
            RemintException token = refusal(client::token);
            RemintException report = refusal(() -> client.report("{}"));
            client.stream(new RemintClient.Listener() {
                @Override
                public void token(Answer answer) {}

                @Override
                public void refused(RemintException refusal) {
                    streamed.add(refusal);
                }
            });
            boolean isSame = true;
            for (RemintException error : Arrays.asList(token, report, streamed.take())) {
                isSame &= error.status == status && error.code.equals("a_code") && error.getMessage().contains("why");
            }
            return isSame && gateway.calls.size() == 3;
        }
    }

    private static boolean sharing() throws Exception {
        CountDownLatch gate = new CountDownLatch(1);
        try (Gateway gateway = new Gateway(held(gate, token(3, 3600))); RemintClient client = gateway.client()) {
            List<Future<Answer>> callers = new ArrayList<>();
            for (int number = 0; number < 10; number++) callers.add(THREADS.submit(() -> client.token()));
            gateway.arrivals.take();
            Thread.currentThread().interrupt();
            boolean isInterrupted = false;
            try {
                client.token();
            } catch (InterruptedException error) {
                isInterrupted = true;
            }
            gate.countDown();
            for (Future<Answer> caller : callers) isInterrupted &= caller.get().version == 3;
            return isInterrupted && gateway.calls.size() == 1;
        }
    }

    /** Callers come one after the other while the answer comes, so some of them look for a token just before the client keeps it. */
    private static boolean arriving() throws Exception {
        boolean isShared = true;
        for (int round = 0; round < 300; round++) {
            try (Gateway gateway = new Gateway(step(200, token(3, 3600))); RemintClient client = gateway.client()) {
                List<Future<Answer>> callers = new ArrayList<>();
                for (int number = 0; number < 50; number++) callers.add(THREADS.submit(() -> client.token()));
                for (Future<Answer> caller : callers) isShared &= caller.get().version == 3;
                isShared &= gateway.calls.size() == 1;
            }
        }
        return isShared;
    }

    private static boolean lastCaller() throws Exception {
        CountDownLatch gate = new CountDownLatch(1);
        try (Gateway gateway = new Gateway(held(gate, token(3, 3600)), step(200, token(4, 3600)));
                RemintClient client = gateway.client()) {
            Future<?> caller = THREADS.submit(() -> client.report("{}"));
            gateway.arrivals.take();
            caller.cancel(true);
            // The next caller makes a call of its own: the canceled one is not its call any more, once its thread has left.
            Answer answer = client.report("{\"other\":1}");
            gate.countDown();
            return answer.version == 4 && gateway.calls.size() == 2;
        }
    }

    private static boolean closing() throws Exception {
        CountDownLatch gate = new CountDownLatch(1);
        try (Gateway gateway = new Gateway(held(gate, token(3, 3600)))) {
            RemintClient client = gateway.client();
            Future<RemintException> caller = THREADS.submit(() -> refusal(client::token));
            gateway.arrivals.take();
            client.close();
            client.close();
            boolean isClosed = caller.get().code.equals("closed") && refusal(client::token).code.equals("closed")
                    && refusal(() -> client.report("{}")).code.equals("closed");
            gate.countDown();
            return isClosed && gateway.calls.size() == 1;
        }
    }

    private static boolean versions() throws Exception {
        try (Gateway gateway = new Gateway(step(200, token(5, 3600)), step(200, token(4, 3600)), step(200, token(6, 3600)));
                RemintClient client = gateway.client()) {
            return client.report("{\"a\":1}").version == 5 && client.report("{\"a\":2}").version == 5
                    && client.report("{\"a\":3}").version == 6 && client.token().version == 6 && gateway.calls.size() == 3;
        }
    }

    /** A clock that only the check moves. */
    private static final class ManualClock implements Clock {
        private final AtomicLong seconds = new AtomicLong();

        @Override
        public long nanos() {
            return 0; // As while a device sleeps.
        }

        @Override
        public long millis() {
            return seconds.get() * 1000;
        }
    }

    private static boolean renewal() throws Exception {
        ManualClock clock = new ManualClock();
        CountDownLatch gate = new CountDownLatch(1);
        try (Gateway gateway = new Gateway(step(200, token(1, 1000)), held(gate, token(2, 1000)), step(200, token(3, 1000)));
                RemintClient client = gateway.client(clock)) {
            boolean isKnown = client.token().version == 1;
            clock.seconds.set(799);
            isKnown &= client.token().version == 1 && gateway.calls.size() == 1;
            clock.seconds.set(901);
            isKnown &= client.token().version == 1;
            gateway.arrivals.take();
            gateway.arrivals.take();
            isKnown &= client.token().version == 1 && gateway.calls.get(1).endsWith("/token?min_life=100");
            // The caller joins the renewal, or finds its token.
            Future<Answer> next = THREADS.submit(() -> client.token(100));
            gate.countDown();
            isKnown &= next.get().version >= 2;
            clock.seconds.set(1860);
            return isKnown && client.token().version == 3;
        }
    }

    private static boolean streaming() throws Exception {
        BlockingQueue<Long> versions = new LinkedBlockingQueue<>();
        BlockingQueue<RemintException> refusals = new LinkedBlockingQueue<>();
        String ready = "retry: 10\nevent: ready\ndata: {\"after\":0}\n\n: heartbeat\n\n";
        try (Gateway gateway = new Gateway(later(503, "0"), stream(ready + event(5) + event(4) + event(9).substring(0, 30)),
                later(200, null), stream(ready.replace("\n", "\r\n") + event(6)), step(401, "{\"code\":\"invalid_session\"}"));
                RemintClient client = gateway.client()) {
            client.stream(new RemintClient.Listener() {
                @Override
                public void token(Answer answer) {
                    versions.add(answer.version);
                }

                @Override
                public void refused(RemintException refusal) {
                    refusals.add(refusal);
                }
            });
            boolean isOver = refusals.take().code.equals("invalid_session");
            List<String> last = new ArrayList<>();
            for (String call : gateway.calls) last.add(call.substring(call.lastIndexOf(' ') + 1));
            return isOver && new ArrayList<>(versions).equals(Arrays.asList(5L, 6L))
                    && last.equals(Arrays.asList("0", "0", "5", "5", "6"));
        }
    }

    private static boolean json() {
        boolean isNull = true;
        for (String text : new String[] {"", "<html>", "{", "{\"a\"}", "{\"a\":1}x", "[1,]", "\"\\u12", "nul", "1e", "--"}) {
            isNull &= Json.read(text) == null;
        }
        StringBuilder deep = new StringBuilder();
        for (int level = 0; level < 100_000; level++) deep.append('[');
        Object members = Json.read(" { \"a\" : [ 1, -2.5e1, true, null, \"\\u00e4\\n\\\"\" ] } ");
        return isNull && Json.read(deep.toString()) == null && members.toString().equals("{a=[1, -25.0, true, null, ä\n\"]}");
    }
}
