import Access
import HTTPTypes
import Hummingbird

/// A request's credentials, not checked yet.
struct ShownCredentials: Sendable {
    /// An API key; with one, the session does not count.
    let apiKey: [UInt8]?
    /// A session, with its proof where there is one.
    let device: DeviceCredentials?

    /// No credentials, or none that matter.
    static let none = ShownCredentials(apiKey: nil, device: nil)

    private init(apiKey: [UInt8]?, device: DeviceCredentials?) { (self.apiKey, self.device) = (apiKey, device) }

    private static let apiKeyField = HTTPField.Name("X-Api-Key")
    private static let proofField = HTTPField.Name("DPoP")

    /// The credentials of `request`.
    ///
    /// - Parameter allowsQuery: whether the session may be in the query (RFC 6750, section 2.3), where no header can be
    ///   set.
    init(_ request: Request, allowsQuery: Bool) {
        let keys = Self.apiKeyField.map { request.headers[values: $0] } ?? []
        // Several keys, or several sessions, count as none: a proxy in front may use another one than this gateway
        // would.
        apiKey = keys.isEmpty ? nil : keys.count == 1 ? Array(keys[0].utf8) : []
        device = Self.device(request, allowsQuery: allowsQuery)
    }

    private static func device(_ request: Request, allowsQuery: Bool) -> DeviceCredentials? {
        let proofs = proofField.map { name in request.headers[values: name] } ?? []
        // Several proofs count as none (RFC 9449, section 4.3): text that is no proof is refused as an invalid proof.
        let proof = proofs.count == 1 ? Array(proofs[0].utf8) : proofs.isEmpty ? nil : Array("several".utf8)
        let headers = request.headers[values: .authorization]
        let query = allowsQuery ? request.uri.queryParameters[values: "access_token"] : []
        guard headers.count + query.count == 1 else { return nil }
        guard let header = headers.first else {
            return DeviceCredentials(scheme: .bearer, session: Array(query[0].utf8), proof: proof)
        }
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2 else { return nil }
        let session = Array(parts[1].utf8)
        switch parts[0].lowercased() {
        case "bearer": return DeviceCredentials(scheme: .bearer, session: session, proof: proof)
        case "dpop": return DeviceCredentials(scheme: .dpop, session: session, proof: proof)
        default: return nil
        }
    }
}
