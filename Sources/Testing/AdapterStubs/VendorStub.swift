public import AdapterKit

/// A vendor's REST API in small, as a value: its answers depend only on earlier requests and on the time that it is
/// given. A server on loopback serves it for tests and for `remint demo --with-lookups`.
public protocol VendorStub: Sendable {
    /// Returns the vendor's response to `request` at `time`, with the statuses, bodies and limits that the vendor
    /// documents.
    mutating func answer(_ request: StubRequest, at time: UnixTime) -> StubResponse
}

/// A request as a vendor's server sees it.
public struct StubRequest: Sendable {
    /// The method, such as `GET`.
    public let method: String
    /// Path and query as they were sent, percent-encoded.
    public let target: String
    /// The headers in their order.
    public let headers: [(name: String, value: String)]
    /// The body.
    public let body: [UInt8]

    /// A request with these parts.
    public init(method: String, target: String, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
    }

    /// The path without the query, still percent-encoded.
    public var path: String { String(target.prefix { $0 != "?" }) }

    /// The query's members by name, percent-decoded; of two with one name the first.
    public var query: [String: String] {
        guard let mark = target.firstIndex(of: "?") else { return [:] }
        let members = target[target.index(after: mark)...].split(separator: "&").map { member -> (String, String) in
            let parts = member.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (Self.decoded(parts[0]), parts.count > 1 ? Self.decoded(parts[1]) : "")
        }
        return Dictionary(members) { first, _ in first }
    }

    /// The path's parts between the slashes, percent-decoded.
    public var pathParts: [String] { path.split(separator: "/", omittingEmptySubsequences: true).map(Self.decoded) }

    /// Returns the first header `name`, in any case.
    public func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// Decodes percent-encoding (RFC 3986, section 2.1). Text that is not encoded properly stays as it is.
    private static func decoded(_ text: some StringProtocol) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2).compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
            guard byte == UInt8(ascii: "%"), digits.count == 2 else {
                bytes.append(byte)
                continue
            }
            bytes.append(UInt8(digits[0] << 4 | digits[1]))
            rest = rest.dropFirst(2)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// A response of a vendor's server.
public struct StubResponse: Sendable {
    /// The HTTP status.
    public let status: Int
    /// The headers besides `content-length`, in their order.
    public let headers: [(name: String, value: String)]
    /// The body.
    public let body: [UInt8]

    /// An answer with these parts.
    public init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// An answer with a JSON body.
    public init(status: Int, headers: [(name: String, value: String)] = [], json: String) {
        self.init(
            status: status, headers: headers + [("content-type", "application/json")], body: Array(json.utf8))
    }
}

/// The setting with which a stub vendor is made.
public struct StubSetting: Sendable {
    /// The value of `Authorization` that it accepts; nil where it checks minted tokens instead.
    public let authorization: String?
    /// The public half of the app's keys, as the vendor has them.
    public let keys: [VerificationKey]
    /// Users who were deleted, by the id the SDK uses.
    public let gone: Set<String>
    /// Users that the vendor has not met. Everybody else exists.
    public let unknown: Set<String>

    /// A setting with these values.
    public init(
        authorization: String?, keys: [VerificationKey] = [], gone: Set<String> = [], unknown: Set<String> = []
    ) {
        self.authorization = authorization
        self.keys = keys
        self.gone = gone
        self.unknown = unknown
    }
}
