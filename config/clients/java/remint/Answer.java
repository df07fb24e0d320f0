package remint;

import java.util.Map;

/** A token of the signed-in user, with the call of the vendor's SDK that accepts it. Its text has no token. */
public final class Answer {
    /** The app of the gateway's configuration. */
    public final String app;
    /** The vendor's name, such as {@code braze}. */
    public final String vendor;
    /** The vendor's token, a compact JWS. A secret: keep it in memory alone. */
    public final String token;
    /** The expiry in seconds since 1970, by the server's clock. */
    public final long expiresAt;
    /** The seconds from the answer to the expiry, for devices whose clock is wrong. */
    public final long expiresIn;
    /** A newer token of a user has a higher version. Pass no lower one to an SDK after a higher one. */
    public final long version;
    /** The challenge that the token answers, as with Dotdigital; null without one. */
    public final String challenge;
    /** The call of the SDK that accepts the token, such as {@code setSdkAuthenticationSignature(jwt)}. */
    public final String call;
    /** The id that the call needs beside the token; null if it needs none. */
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

    /** Reads the gateway's JSON; null if it is no token, such as the sign-in page of a network. */
    static Answer read(String json) {
        Answer answer = new Answer(Json.members(Json.read(json)));
        return answer.token == null || answer.version <= 0 ? null : answer;
    }

    @Override
    public String toString() {
        return app + " version " + version + ", expires at " + expiresAt;
    }
}
