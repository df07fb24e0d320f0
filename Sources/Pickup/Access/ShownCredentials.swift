import Access
import HTTPTypes
import Hummingbird

/// What a request shows of its sender, unchecked.
struct ShownCredentials: Sendable {
    /// An API key, which counts before anything else.
    let apiKey: [UInt8]?
    /// A session, and a proof where there is one.
    let device: DeviceCredentials?

    /// Nothing is shown, or what is shown does not matter.
    static let none = ShownCredentials(apiKey: nil, device: nil)

    private init(apiKey: [UInt8]?, device: DeviceCredentials?) { (self.apiKey, self.device) = (apiKey, device) }

    private static let apiKeyField = HTTPField.Name("X-Api-Key")
    private static let proofField = HTTPField.Name("DPoP")

    /// What `request` shows.
    ///
    /// - Parameter allowsQuery: whether the session may stand in the query (RFC 6750, section 2.3), where no header can be set.
    init(_ request: Request, allowsQuery: Bool) {
        let keys = Self.apiKeyField.map { request.headers[values: $0] } ?? []
        // Several keys, and several sessions, are none: a proxy in front may have gone by another one than this gateway would.
        apiKey = keys.isEmpty ? nil : keys.count == 1 ? Array(keys[0].utf8) : []
        device = Self.device(request, allowsQuery: allowsQuery)
    }

    private static func device(_ request: Request, allowsQuery: Bool) -> DeviceCredentials? {
        let proofs = proofField.map { name in request.headers[values: name] } ?? []
        // Several proofs are none (RFC 9449, section 4.3): what is no proof is refused as one.
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
