import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * An edge: it validates the session of a device, vouches for its user, produces the event for Remint, and returns the token.
 *
 * <p>README.md has the variables of the environment. Replace {@link #userOf} with the check of your own sessions.
 */
public final class Edge {
    private static final Pattern CALL = Pattern.compile("/v1/apps/([^/]+)/(reports|token)");
    private static final Pattern COOKIE = Pattern.compile("(?:^|;\\s*)session=([\\w-]+)\\.(\\d{1,12})\\.([\\w-]+)");
    private static final Pattern VERSION = Pattern.compile("\"version\":([0-9]+)");

    private final byte[] secret = need("EDGE_SECRET").getBytes(StandardCharsets.UTF_8);
    private final String gateway = need("EDGE_GATEWAY").replaceAll("/+$", "");
    private final String key = need("EDGE_GATEWAY_KEY");
    private final Set<String> apps = new HashSet<>(Arrays.asList(need("EDGE_APPS").split(",")));
    private final String topic = System.getenv().getOrDefault("EDGE_TOPIC", "remint.invalidations");
    private final HttpClient http = HttpClient.newHttpClient(); // Follows no redirect.
    private final Producer<String, byte[]> producer;

    private Edge() {
        if (secret.length < 32) fail("EDGE_SECRET: shorter than 32 characters. Make one: openssl rand -hex 32");
        producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", need("EDGE_BROKERS"), "acks", "all", "delivery.timeout.ms", 5000,
                        "request.timeout.ms", 5000, "max.block.ms", 5000, "linger.ms", 0),
                new StringSerializer(), new ByteArraySerializer());
    }

    private static String need(String name) {
        String value = System.getenv(name);
        if (value == null || value.isEmpty()) fail(name + ": not set. README.md describes it");
        return value;
    }

    private static void fail(String text) {
        System.err.println("edge: " + text);
        System.exit(1);
    }

    public static void main(String[] arguments) throws IOException {
        Edge edge = new Edge();
        int port = Integer.parseInt(System.getenv().getOrDefault("EDGE_PORT", "8090"));
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
        server.createContext("/", edge::answer);
        server.setExecutor(Executors.newCachedThreadPool());
        server.start();
        System.err.println("edge: listens on " + server.getAddress().getPort());
    }

    /**
     * Returns the user of the request's session; null without a valid session. The session is user.expiry.HMAC-SHA256, as a bearer token
     * (apps) or in a cookie (pages).
     */
    private String userOf(HttpExchange call) throws GeneralSecurityException {
        String bearer = call.getRequestHeaders().getFirst("Authorization");
        String cookies = call.getRequestHeaders().getFirst("Cookie");
        String session = bearer != null ? bearer.replaceFirst("^Bearer ", "session=") : cookies == null ? "" : cookies;
        Matcher cookie = COOKIE.matcher(session);
        if (!cookie.find()) return null;
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(secret, "HmacSHA256"));
        byte[] wanted = mac.doFinal((cookie.group(1) + "." + cookie.group(2)).getBytes(StandardCharsets.UTF_8));
        String shown = Base64.getUrlEncoder().withoutPadding().encodeToString(wanted);
        if (!MessageDigest.isEqual(shown.getBytes(StandardCharsets.UTF_8), cookie.group(3).getBytes(StandardCharsets.UTF_8))) {
            return null;
        }
        if (Long.parseLong(cookie.group(2)) <= Instant.now().getEpochSecond()) return null;
        return new String(Base64.getUrlDecoder().decode(cookie.group(1)), StandardCharsets.UTF_8);
    }

    private static String percent(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20").replace("*", "%2A").replace("%7E", "~");
    }

    /** Returns the vouched user as JSON in ASCII: every other character is an escape. */
    private static String vouched(String user) {
        StringBuilder json = new StringBuilder("{\"user\":\"");
        for (char next : user.toCharArray()) {
            if (next == '"' || next == '\\' || next < ' ' || next > '~') json.append(String.format("\\u%04x", (int) next));
            else json.append(next);
        }
        return json.append("\"}").toString();
    }

    /** Asks the gateway as a trusted backend, only for the user of the session. */
    private HttpResponse<byte[]> ask(String app, String user, String query) throws IOException, InterruptedException {
        URI uri = URI.create(gateway + "/v1/apps/" + percent(app) + "/token?" + query);
        HttpRequest request = HttpRequest.newBuilder(uri).timeout(Duration.ofSeconds(40)).header("X-Api-Key", key)
                .header("Remint-Vouched", vouched(user)).build();
        return http.send(request, HttpResponse.BodyHandlers.ofByteArray());
    }

    private void answer(HttpExchange call) throws IOException {
        try {
            serve(call);
        } catch (Exception error) {
            if (error instanceof InterruptedException) Thread.currentThread().interrupt();
            System.err.println("edge: " + error);
            call.getResponseHeaders().set("Retry-After", "1");
            refuse(call, 503, "unavailable");
        } finally {
            call.close();
        }
    }

    private void serve(HttpExchange call) throws Exception {
        Matcher parts = CALL.matcher(call.getRequestURI().getRawPath());
        String user = userOf(call);
        if (user == null) {
            refuse(call, 401, "no_session");
            return;
        }
        String app = parts.matches() ? URLDecoder.decode(parts.group(1).replace("+", "%2B"), StandardCharsets.UTF_8) : "";
        if (!apps.contains(app)) {
            refuse(call, 404, "unknown_app");
            return;
        }
        switch (call.getRequestMethod() + " " + parts.group(2)) {
            case "POST reports":
                report(call, app, user);
                break;
            case "GET token":
                String query = call.getRequestURI().getRawQuery();
                handOn(call, ask(app, user, query == null ? "" : query));
                break;
            default:
                call.getResponseHeaders().set("Allow", parts.group(2).equals("token") ? "GET" : "POST");
                refuse(call, 405, "method_not_allowed");
        }
    }

    private void report(HttpExchange call, String app, String user) throws Exception {
        String type = call.getRequestHeaders().getFirst("Content-Type");
        // A page of another site cannot send this type without a preflight request, so the page cannot report for the user.
        if (type == null || !type.startsWith("application/json")) {
            refuse(call, 415, "unsupported_media_type");
            return;
        }
        byte[] body = call.getRequestBody().readNBytes(65537);
        if (body.length > 65536) {
            refuse(call, 413, "event_too_large");
            return;
        }
        // The version of the token that the gateway knows: the token that answers the report has a higher one.
        HttpResponse<byte[]> known = ask(app, user, "after=0&wait=0");
        if (known.statusCode() > 299) {
            handOn(call, known);
            return;
        }
        Matcher version = VERSION.matcher(new String(known.body(), StandardCharsets.UTF_8));
        String after = version.find() ? version.group(1) : "0";
        String id = UUID.randomUUID().toString();
        produce(id, app, user, body);
        String url = "/v1/apps/" + percent(app) + "/token?after=" + after;
        call.getResponseHeaders().set("Location", url);
        write(call, 202, "{\"event_id\":\"" + id + "\",\"after\":" + after + ",\"token_url\":\"" + url + "\"}");
    }

    /** Produces the event and waits until all in-sync replicas have it. The user is the user of the session, never of the report. */
    private void produce(String id, String app, String user, byte[] report) throws InterruptedException, ExecutionException {
        ProducerRecord<String, byte[]> record = new ProducerRecord<>(topic, app + "/" + percent(user), report);
        // CloudEvents in binary mode: the value is the report, unchanged.
        Map<String, String> headers = Map.of(
                "ce_specversion", "1.0", "ce_id", id, "ce_source", "/edge", "ce_type", "remint.report.v1", "ce_app", app,
                "ce_time", Instant.now().toString(), "ce_vouched", vouched(user), "content-type", "application/json");
        headers.forEach((name, value) -> record.headers().add(name, value.getBytes(StandardCharsets.UTF_8)));
        producer.send(record).get();
    }

    private static void handOn(HttpExchange call, HttpResponse<byte[]> answer) throws IOException {
        for (String name : new String[] {"Content-Type", "ETag", "Location", "Retry-After"}) {
            answer.headers().firstValue(name).ifPresent(value -> call.getResponseHeaders().set(name, value));
        }
        write(call, answer.statusCode(), answer.body());
    }

    private static void refuse(HttpExchange call, int status, String code) throws IOException {
        call.getResponseHeaders().set("Content-Type", "application/problem+json");
        write(call, status, "{\"type\":\"urn:remint:problem:" + code + "\",\"title\":\"" + code + "\",\"status\":" + status
                + ",\"code\":\"" + code + "\"}");
    }

    private static void write(HttpExchange call, int status, String json) throws IOException {
        if (status < 400) call.getResponseHeaders().set("Content-Type", "application/json");
        write(call, status, json.getBytes(StandardCharsets.UTF_8));
    }

    private static void write(HttpExchange call, int status, byte[] body) throws IOException {
        call.getResponseHeaders().set("Cache-Control", "no-store");
        call.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
        if (body.length > 0) call.getResponseBody().write(body);
    }
}
