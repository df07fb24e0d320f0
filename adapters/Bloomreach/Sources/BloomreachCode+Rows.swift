import AdapterKit

extension BloomreachCode {
    /// The rows of the table of codes, first those of a stream token.
    static let rows =
        streamForms.map { $0.row($1, when: "stream") } + customerForms.map { $0.row($1, when: "customer_token") }
        + [other.row("any other code, no code", when: "")]

    private static let streamForms: [(BloomreachCode, String)] = [
        (.notProvided, VendorCode.matches("TOKEN_NOT_PROVIDED", "notProvided")),
        (.aboutToExpire, VendorCode.matches("TOKEN_ABOUT_TO_EXPIRE", "expiredSoon")),
        (.expired, VendorCode.matches("TOKEN_EXPIRED", "expired")),
        (.rejected, VendorCode.matches("TOKEN_REJECTED", "401")), (.invalid, VendorCode.matches("invalid")),
        (.insufficient, VendorCode.matches("TOKEN_INSUFFICIENT", "insufficient")),
    ]

    private static let customerForms: [(BloomreachCode, String)] = [
        (.empty, VendorCode.matches("empty")), (.expiring, VendorCode.matches("expiring")),
        (.status(401), VendorCode.matches("401")), (.status(403), VendorCode.matches("403")),
    ]

    private func row(_ matches: String, when mode: String) -> VendorCode {
        VendorCode(
            name, matches: matches, when: mode.isEmpty ? "" : "`mode: \(mode)`", evidence: evidence, remedy: remedy)
    }
}
