/// The questions that an app asks the vendor's REST API before it mints.
@nonexhaustive public enum LookupMode: String, Sendable, CaseIterable {
    /// No question.
    case off
    /// The user's existence.
    case verify
    /// The user's existence, and the facts besides the id that the vendor's tokens may hold.
    case enrich
}

/// The questions to the vendor's REST API about some users, as values: the worker sends them.
public enum Lookup: Sendable, Equatable {
    /// No request.
    case none
    /// These requests, which together cover the users; each user is in exactly one.
    case requests([LookupRequest])
}

/// A request to the vendor's REST API. The worker adds endpoint and credentials, so that an adapter never sees either.
public struct LookupRequest: Sendable, Equatable {
    /// The method.
    public enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
    }

    /// The method.
    public let method: Method
    /// Path and query, percent-encoded, from a `/`.
    public let path: String
    /// The JSON body of a POST.
    public let body: [UInt8]?
    /// The users that this request is about, by their place in the list.
    public let subjects: Range<Int>

    /// A request about `subjects`.
    public init(method: Method, path: String, body: [UInt8]? = nil, subjects: Range<Int>) {
        self.method = method
        self.path = path
        self.body = body
        self.subjects = subjects
    }
}

/// A vendor's answer, whole and within the worker's limits.
public struct LookupResponse: Sendable, Equatable {
    /// The HTTP status.
    public let status: Int
    /// The body's bytes.
    public let body: [UInt8]

    /// An answer with `status` and `body`.
    public init(status: Int, body: [UInt8]) {
        self.status = status
        self.body = body
    }
}

/// A look-up's additions to a token: JSON values by the name under which a recipe reads them.
public struct Enrichment: Sendable, Equatable {
    private let values: [String: [UInt8]]

    /// An enrichment with these JSON texts.
    public init(_ values: [String: [UInt8]] = [:]) { self.values = values }

    /// Returns the JSON text for `name`; nil where there is none.
    public subscript(name: String) -> [UInt8]? { values[name] }

    /// Whether it adds nothing.
    public var isEmpty: Bool { values.isEmpty }

    /// Returns the same enrichment with the values of `other`, which replace values of the same name.
    package func overridden(by other: Enrichment) -> Enrichment {
        Enrichment(values.merging(other.values) { $1 })
    }
}
