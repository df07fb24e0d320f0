public import AdapterKit
import HTTPTransport

/// The endpoint of an account's vendor, and the terms of its requests. Printing it never shows the credentials.
public struct LookupEndpoint: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The account's name, by which calls name it.
    public let account: String
    /// The API's URL: `https://host`, with a port and a base path where it has them; `http` goes in plain text.
    public let url: String
    /// The kind of credential that a request carries.
    public let authorization: LookupTerms.Authorization
    /// The credential.
    public let credentials: Credentials
    /// The longest time for a call, from the moment it is asked for to the last byte of its answer.
    public let timeout: Duration
    /// The path of a PEM file with the authorities that are trusted in place of the system's; nil for those.
    public let certificateAuthority: String?
    /// The largest number of requests on their way at one time, at least one.
    public let concurrency: Int

    /// An endpoint with these values.
    public init(
        account: String, url: String, authorization: LookupTerms.Authorization, credentials: Credentials,
        timeout: Duration, certificateAuthority: String? = nil, concurrency: Int = 8
    ) {
        self.account = account
        self.url = url
        self.authorization = authorization
        self.credentials = credentials
        self.timeout = timeout
        self.certificateAuthority = certificateAuthority
        self.concurrency = max(1, concurrency)
    }

    /// The account's name; never the credential.
    public var description: String { "the look-up endpoint of \(account)" }
    /// The same as `description`.
    public var debugDescription: String { description }
    /// The account's name alone, so that a dump shows no credential.
    public var customMirror: Mirror { Mirror(self, children: ["account": account]) }
}

extension LookupEndpoint {
    /// The credential of an account's requests. It prints as its kind.
    public enum Credentials: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
        /// No credentials of its own: each request has a token of its own.
        case none
        /// An API key.
        case key(SecretBytes)
        /// A user name and a password (RFC 7617).
        case basic(user: String, password: SecretBytes)

        /// The kind of the credential; never its value.
        public var description: String {
            switch self {
            case .none: "no credentials"
            case .key: "an API key"
            case .basic: "a user name and a password"
            }
        }
        /// The same as `description`.
        public var debugDescription: String { description }
        /// Empty, so that a dump shows no credential.
        public var customMirror: Mirror { Mirror(self, children: []) }
    }
}

extension LookupEndpoint.Credentials {
    /// Returns the value of `Authorization`; nil where each request has its own.
    ///
    /// - Throws: `EndpointError`, without the secret, where the secret is missing or no header can hold it.
    func header(for authorization: LookupTerms.Authorization) throws(EndpointError) -> SecretBytes? {
        switch (authorization, self) {
        case (.mintedToken, _): return nil
        case (.key(let scheme), .key(let key)):
            // A space or a line's end in a key is a slip of the hand, and would end the header or change it.
            guard key.count > 0, key.withBytes({ $0.allSatisfy { $0 > 0x20 && $0 < 0x7F } }) else {
                throw EndpointError("the API key is empty, or has a character in it that no header can hold")
            }
            return SecretBytes("\(scheme) ".utf8, followedBy: key)
        case (.basic, .basic(let user, let password)):
            guard !user.isEmpty, !user.utf8.contains(UInt8(ascii: ":")) else {
                throw EndpointError("the user name is empty, or has a colon in it, which none may have (RFC 7617)")
            }
            let pair = SecretBytes("\(user):".utf8, followedBy: password)
            return SecretBytes("Basic ".utf8, followedBy: SecretEncoding.base64.encode(pair))
        case (.key, _): throw EndpointError("the API key is missing")
        case (.basic, _): throw EndpointError("the user name and the password are missing")
        }
    }
}
