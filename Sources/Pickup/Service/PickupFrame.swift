import HTTPTypes
import Hummingbird
import NIOCore

/// The rules of every call: the origins of pages, the methods, and the count of answers.
struct PickupFrame: Sendable {
    private static let exposed = "DPoP-Nonce, ETag, Location, Preference-Applied, Retry-After, WWW-Authenticate"
    private static let asked = "authorization, content-type, prefer, remint-device, dpop, if-none-match, last-event-id"

    private static let proof = HTTPField.Name("DPoP")
    private static let nonce = HTTPField.Name("DPoP-Nonce")

    /// The request's headers that `finish` reads.
    static let read: [HTTPField.Name] = [.origin] + (proof.map { [$0] } ?? [])

    let origins: Set<String>
    let metrics: PickupMetrics
    /// Returns the nonce for the next proof; nil where proofs need none.
    let nextNonce: @Sendable () -> String?

    /// Returns the answer to a request that reaches no call: a browser's preflight request, or a method that the call
    /// does not have.
    func ownAnswer(to request: Request, _ call: PickupCall?) -> Response? {
        if request.method == .options, request.headers[.origin] != nil { return Response(status: .noContent) }
        guard let call, request.method != call.method else { return nil }
        // For each GET call a HEAD request is allowed; the connection leaves the body out.
        if request.method == .head, call.method == .get { return nil }
        var problem = Problem(.methodNotAllowed, "method_not_allowed", "this call has another method")
        problem.allow = call.method == .get ? "GET, HEAD" : call.method.rawValue
        return problem.response
    }

    /// Counts an answer, and names the pages that may read it.
    func finish(_ response: Response, to request: Request, _ call: PickupCall?) -> Response {
        metrics.answered(call?.name ?? "other", Int(response.status.code))
        var response = response
        if let proof = Self.proof, let nonce = Self.nonce, request.headers[proof] != nil, let next = nextNonce() {
            response.headers[nonce] = next
        }
        guard let origin = request.headers[.origin] else { return response }
        addOrigin(origin, request, &response)
        return response
    }

    /// Lets pages of the configured origins call and read the answers (WHATWG Fetch, CORS protocol).
    private func addOrigin(_ origin: String, _ request: Request, _ response: inout Response) {
        response.headers[.vary] = "Origin"
        guard origins.contains(origin) else { return }
        response.headers[.accessControlAllowOrigin] = origin
        response.headers[.accessControlExposeHeaders] = Self.exposed
        guard request.method == .options else { return }
        response.headers[.accessControlAllowMethods] = "GET, HEAD, POST"
        response.headers[.accessControlAllowHeaders] = Self.asked
        response.headers[.accessControlMaxAge] = "600"
    }
}
