/// A token of SASL/OAUTHBEARER (RFC 7628). No description of it contains its text.
public struct BearerToken: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// An extension that a broker requires beside the token, such as Confluent's `logicalCluster`.
    public struct Extension: Sendable, Hashable {
        /// The extension's name.
        public let name: String
        /// The extension's value.
        public let value: String

        /// - Throws: `KafkaError` where the name does not consist of letters alone, or is `auth`, or the value has
        ///   invisible characters (RFC 7628, section 3.1).
        public init(_ name: String, _ value: String) throws(KafkaError) {
            let isName =
                !name.isEmpty && name.utf8.allSatisfy { (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) }
            guard isName, name != "auth", value.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
                throw KafkaError(
                    .invalidArgument, "an extension of OAUTHBEARER has a name of letters, not auth, and a visible value"
                )
            }
            self.name = name
            self.value = value
        }
    }

    /// The token that the broker gets.
    public let text: String
    /// The end of its life, in milliseconds since 1970.
    public let expiry: Int64
    /// The principal of the token, as far as the client knows it.
    public let principal: String
    /// The extensions sent with the token.
    public let extensions: [Extension]

    /// - Throws: `KafkaError` if the text has other than visible characters: librdkafka refuses it, and repeats it in
    ///   its error.
    public init(
        _ text: String, expiry: Int64, principal: String, extensions: [Extension] = []
    ) throws(KafkaError) {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw KafkaError(.invalidArgument, "a token of OAUTHBEARER must have only visible ASCII characters")
        }
        self.text = text
        self.expiry = expiry
        self.principal = principal.utf8.contains(0) ? "" : principal
        self.extensions = extensions
    }

    /// A stand-in: the token is a secret.
    public var description: String { "a token of OAUTHBEARER" }
    /// The same stand-in.
    public var debugDescription: String { description }
    /// Nothing: a dump or a mirror shows no member.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
