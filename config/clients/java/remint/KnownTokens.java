package remint;

import java.util.LinkedHashMap;
import java.util.Map;

/** The newest token of the user, and of each challenge. An older token never replaces a newer one. */
final class KnownTokens {
    /** The number of challenges whose tokens the client remembers. */
    private static final int LIMIT = 100;

    private final class Known {
        final Answer answer;
        final double early;
        private final long untilNanos;
        private final long untilMillis;
        boolean isRefused;

        Known(Answer answer, double early) {
            this.answer = answer;
            this.early = early;
            untilNanos = clock.nanos() + answer.expiresIn * 1_000_000_000;
            untilMillis = clock.millis() + answer.expiresIn * 1000;
        }

        /**
         * Returns the remaining seconds by the clock that shows fewer. One clock stops while an Android device sleeps; the user can
         * set the other clock.
         */
        double life() {
            if (isRefused) return 0;
            return Math.min((untilNanos - clock.nanos()) / 1e9, (untilMillis - clock.millis()) / 1e3);
        }
    }

    private final Map<String, Known> tokens = new LinkedHashMap<>();
    private final Clock clock;

    KnownTokens(Clock clock) {
        this.clock = clock;
    }

    /** Returns the version of the user's newest token; 0 without one. */
    long version() {
        Known known = tokens.get("");
        return known == null ? 0 : known.answer.version;
    }

    /** Returns the user's newest token; null without one. */
    Answer newest() {
        Known known = tokens.get("");
        return known == null ? null : known.answer;
    }

    /** Returns the remaining seconds of the user's token; 0 if the vendor refused the token. */
    double life() {
        Known known = tokens.get("");
        return known == null ? 0 : known.life();
    }

    /** Returns whether the client has to renew the token, which is still valid. */
    boolean isDue() {
        Known known = tokens.get("");
        return known != null && known.life() < known.early;
    }

    /** Records that the vendor refused the current token. */
    void refuse(String challenge) {
        Known known = tokens.get(challenge);
        if (known != null) known.isRefused = true;
    }

    /** Keeps an answer and returns the newest one. {@code random} (0 to 1) makes devices renew at different moments. */
    Answer keep(Answer answer, double random) {
        String challenge = answer.challenge == null ? "" : answer.challenge;
        Known known = tokens.get(challenge);
        if (known != null && known.answer.version > answer.version) return known.answer;
        boolean isNew = known == null || known.answer.version < answer.version;
        Known kept = new Known(answer, isNew ? Math.min(3600, answer.expiresIn * (0.1 + random / 10)) : 0);
        kept.isRefused = !isNew && known.isRefused; // A refused token remains refused.
        tokens.put(challenge, kept);
        if (tokens.size() > LIMIT) {
            for (String oldest : tokens.keySet()) {
                if (oldest.isEmpty() || oldest.equals(challenge)) continue;
                tokens.remove(oldest);
                break;
            }
        }
        return answer;
    }

    void clear() {
        tokens.clear();
    }
}
