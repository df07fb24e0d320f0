package remint;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/** Many calls of many users: java remint.Calls GATEWAY APP SESSIONS. SESSIONS is a file with a JSON array. Writes JSON. */
public final class Calls {
    private static final int WIDTH = 200;
    private static final int STREAMS = 10;
    private static final AtomicInteger CLIENTS = new AtomicInteger();

    public static void main(String[] arguments) throws Exception {
        String text = new String(Files.readAllBytes(Paths.get(arguments[2])), StandardCharsets.UTF_8);
        List<?> sessions = (List<?>) Json.read(text);
        Map<Integer, Long> versions = new ConcurrentHashMap<>();
        AtomicInteger older = new AtomicInteger(), refused = new AtomicInteger();
        List<RemintClient> watching = new ArrayList<>();
        for (int number = 0; number < STREAMS; number++) {
            int user = number;
            RemintClient client = client(arguments, sessions, user);
            watching.add(client);
            client.stream(new RemintClient.Listener() {
                @Override
                public void token(Answer answer) {
                    Long before = versions.put(user, answer.version);
                    if (before != null && before > answer.version) older.incrementAndGet();
                    synchronized (versions) {
                        versions.notifyAll();
                    }
                }

                @Override
                public void refused(RemintException refusal) {
                    refused.incrementAndGet();
                }
            });
        }
        ExecutorService threads = Executors.newFixedThreadPool(WIDTH);
        List<Future<Boolean>> answers = new ArrayList<>();
        for (int number = 0; number < sessions.size(); number++) {
            int user = number;
            answers.add(threads.submit(() -> {
                try (RemintClient client = client(arguments, sessions, user)) {
                    Answer answer = user % 2 == 0 ? client.report(report(user)) : client.token();
                    return answer.token.split("\\.").length == 3;
                }
            }));
        }
        int answered = 0;
        for (Future<Boolean> answer : answers) {
            if (answer.get()) answered++;
        }
        for (int user = 0; user < STREAMS; user++) {
            try (RemintClient client = client(arguments, sessions, user)) {
                long version = client.report(report(user)).version;
                synchronized (versions) {
                    while (versions.getOrDefault(user, 0L) < version) versions.wait();
                }
            }
            watching.get(user).close();
        }
        threads.shutdown();
        System.out.println("{\"calls\":" + sessions.size() + ",\"answered\":" + answered + ",\"streamed\":" + versions.size()
                + ",\"older\":" + older + ",\"refused\":" + refused + "}");
    }

    private static RemintClient client(String[] arguments, List<?> sessions, int user) {
        String device = "client-" + CLIENTS.incrementAndGet();
        return new RemintClient(arguments[0], arguments[1], device, () -> (String) sessions.get(user));
    }

    private static String report(int user) {
        return "{\"errorCode\":22,\"userId\":\"u-" + user + "\"}";
    }
}
