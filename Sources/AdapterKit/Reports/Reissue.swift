/// A batch job's request for a new token: `{"reissue":{"user":…}}`. Every adapter understands it.
public enum Reissue {
    /// The reason such a request has in logs and metrics.
    public static let reason = "REISSUE"

    /// What `report` asks for; nil where it is an SDK's report.
    public static func read(_ report: Report, for adapter: any Adapter) -> Reading? {
        guard let request = report.root["reissue"] else { return nil }
        guard let user = request["user"], !user.isNull else {
            return .rejected(Rejection(.missingUser, "\"reissue\" must be an object with a \"user\""))
        }
        do throws(Rejection) {
            let subject = try adapter.subject(reissuing: user)
            return .failure(AuthenticationFailure(subject: subject, reason: reason, remedy: .mint))
        } catch { return .rejected(error) }
    }
}
