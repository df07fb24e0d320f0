package remint;

import java.util.Map;

/** A refusal that another try cannot change. The exception contains no token and no session. */
public final class RemintException extends Exception {
    private static final long serialVersionUID = 1;

    /** The app of the call. */
    public final String app;
    /** The status of the gateway's answer, 400 to 499; 0 if the client itself refuses the call. */
    public final int status;
    /**
     * The gateway's stable code, such as {@code invalid_session} (401), {@code identity_mismatch} (403) or {@code unknown_app} (404).
     * Codes of the client: {@code refused} (a refusal without a code), {@code no_session} (the session is null), {@code invalid_session}
     * with status 0 (the session does not fit in a header) and {@code closed} ({@code close()} was called).
     */
    public final String code;

    RemintException(String app, int status, String code, String detail) {
        super(app + ": " + (status > 0 ? status + " " : "") + code + (detail == null ? "" : ": " + detail) + ": "
                + remedy(status, code));
        this.app = app;
        this.status = status;
        this.code = code;
    }

    /** Reads the problem in the body of a refusal (RFC 9457). For an answer of another server, keeps only the status. */
    static RemintException of(String app, int status, String body) {
        Map<?, ?> problem = Json.members(Json.read(body));
        String code = Json.text(problem.get("code"));
        boolean isCode = code != null && code.matches("[a-z_]+");
        return new RemintException(app, status, isCode ? code : "refused", isCode ? Json.text(problem.get("detail")) : null);
    }

    private static String remedy(int status, String code) {
        if (code.equals("closed")) return "make a new client";
        if (code.equals("no_session")) return "return the user's session; call close() at sign-out";
        if (status == 400) return "send the report as the SDK gave it, a JSON object";
        if (status == 401 || code.equals("invalid_session")) return "return a valid session of the signed-in user";
        if (status == 403) return "report for the signed-in user alone";
        if (status == 404) return "compare the address and the app with pickup.apps of the gateway";
        return "remint codes lists the codes";
    }
}
