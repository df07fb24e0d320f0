import HTTPTypes
import HummingbirdCore
import NIOCore

/// The rules of every call: the origins of pages, the methods, and the count of answers.
struct PickupFrame: Sendable {
    private static let exposed = "DPoP-Nonce, ETag, Location, Preference-Applied, Retry-After, WWW-Authenticate"
    private static let asked = "authorization, content-type, prefer, remint-device, dpop, if-none-match, last-event-id"

    private static let proof = HTTPField.Name("DPoP")
    private static let nonce = HTTPField.Name("DPoP-Nonce")

    /// The part of a request that its answer depends on. A waiting call keeps no more of its request.
    struct Asked: Sendable {
        fileprivate let origin: String?
        fileprivate let hasOptionsMethod: Bool
        fileprivate let hasProof: Bool

        init(_ request: Request) {
            origin = request.headers[.origin]
            hasOptionsMethod = request.method == .options
            hasProof = PickupFrame.proof.map { request.headers.contains($0) } ?? false
        }
    }

    let origins: Set<String>
    let metrics: PickupMetrics
    /// Returns the nonce for the next proof; nil where proofs need none.
    let nextNonce: @Sendable () -> String?

    /// Returns the answer to a request that reaches no call: a browser's preflight request, or a method that the call
    /// does not have.
    func ownAnswer(to request: Request, _ call: PickupCall?) -> Answer? {
        if request.method == .options {
            if request.headers[.origin] != nil { return Answer(.noContent) }
            // `*` is the whole server (RFC 9110, section 9.3.7).
            if request.head.path == "*" { return Answer(.noContent, [.allow: "GET, HEAD, OPTIONS, POST"]) }
            return call.map { Answer(.noContent, [.allow: Self.allowed($0)]) }
        }
        guard let call, request.method != call.method else { return nil }
        // For each GET call a HEAD request is allowed; the connection leaves the body out.
        if request.method == .head, call.method == .get { return nil }
        var problem = Problem(.methodNotAllowed, "method_not_allowed", "this call has another method")
        problem.allow = Self.allowed(call)
        return problem.answer
    }

    private static func allowed(_ call: PickupCall) -> String {
        call.method == .get ? "GET, HEAD, OPTIONS" : "\(call.method.rawValue), OPTIONS"
    }

    /// Counts an answer, and names the pages that may read it.
    func finish(_ answer: Answer, to asked: Asked, _ call: PickupCall?) -> Answer {
        metrics.answered(call?.name ?? "other", Int(answer.status.code))
        var answer = answer
        if asked.hasProof, let nonce = Self.nonce, let next = nextNonce() { answer.headers[nonce] = next }
        // A cache must not give the answer to a request without an origin to a page.
        answer.headers[.vary] = "Origin"
        if let origin = asked.origin { addOrigin(origin, asked, &answer) }
        return answer
    }

    /// Lets pages of the configured origins call and read the answers (WHATWG Fetch, CORS protocol).
    private func addOrigin(_ origin: String, _ asked: Asked, _ answer: inout Answer) {
        guard origins.contains(origin) else { return }
        answer.headers[.accessControlAllowOrigin] = origin
        answer.headers[.accessControlExposeHeaders] = Self.exposed
        guard asked.hasOptionsMethod else { return }
        answer.headers[.accessControlAllowMethods] = "GET, HEAD, POST"
        answer.headers[.accessControlAllowHeaders] = Self.asked
        answer.headers[.accessControlMaxAge] = "600"
    }
}
