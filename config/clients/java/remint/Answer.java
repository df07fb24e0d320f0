package remint;

import java.util.Map;

/** A token of the signed-in user, with the call of the vendor's SDK that accepts it. {@link #toString} contains no token. */
public final class Answer {
    /** The app of the gateway's configuration. */
    public final String app;
    /** The vendor's name, such as {@code braze}. */
    public final String vendor;
    /** The vendor's token, a compact JWS. The token is a secret: keep it in memory only. */
    public final String token;
    /** The expiry of the token in seconds since 1970, by the gateway's clock. */
    public final long expiresAt;
    /** The seconds from the answer to the expiry, for devices whose clock is wrong. */
    public final long expiresIn;
    /** The version of the token. A newer token of a user has a higher version. Never pass an SDK a token with a lower version. */
    public final long version;
    /** The challenge that the token answers, for vendors with challenges such as Dotdigital; null without a challenge. */
    public final String challenge;
    /** The call of the SDK that accepts the token, such as {@code setSdkAuthenticationSignature(jwt)}. */
    public final String call;
    /** The user's id, if the SDK's call needs it in addition to the token; otherwise null. */
    public final String identifier;

    private Answer(Map<?, ?> members) {
        app = Json.text(members.get("app"));
        vendor = Json.text(members.get("vendor"));
        token = Json.text(members.get("token"));
        expiresAt = Json.number(members.get("expires_at"));
        expiresIn = Json.number(members.get("expires_in"));
        version = Json.number(members.get("version"));
        challenge = Json.text(members.get("challenge"));
        Map<?, ?> apply = Json.members(members.get("apply"));
        call = Json.text(apply.get("call"));
        identifier = Json.text(apply.get("identifier"));
    }

    /** Reads the gateway's JSON. Returns null for a body that is no token, such as the sign-in page of a network. */
    static Answer read(String json) {
        Answer answer = new Answer(Json.members(Json.read(json)));
        return answer.token == null || answer.version <= 0 ? null : answer;
    }

    @Override
    public String toString() {
        return app + " version " + version + ", expires at " + expiresAt;
    }
}
