import YAMLReading

extension Configuration {
    /// The source of the SASL/OAUTHBEARER tokens: `kafka.oauth`. It holds no secret, but the names of files that do.
    public struct OAuth: Sendable, Hashable {
        /// The kinds of sources.
        public enum Kind: String, Sendable, CaseIterable {
            /// A file that somebody else keeps fresh.
            case file
            /// An authorization server, asked with the client credentials grant (RFC 6749, section 4.4).
            case oidc
            /// Amazon MSK: a URL that is signed with AWS's credentials.
            case awsMSKIAM = "aws_msk_iam"
        }

        /// A source of tokens, with the values that it needs.
        public enum Source: Sendable, Hashable {
            /// The file at this path.
            case file(String)
            /// An authorization server.
            case clientCredentials(ClientCredentials)
            /// Amazon MSK in this region.
            case awsMSKIAM(region: String)
        }

        /// The client authentication method (RFC 6749, section 2.3.1).
        public enum Authentication: String, Sendable, CaseIterable {
            /// The header `Authorization`.
            case basic
            /// The request's body.
            case post
        }

        /// The parameters of requests to an authorization server.
        public struct ClientCredentials: Sendable, Hashable, WithDefaults {
            /// The token endpoint: https, or http to this machine.
            public var endpoint = ""
            /// The endpoint's host, and its port if it is not 443. Logs and errors may show it.
            public var host = ""
            /// The client's name.
            public var clientID = ""
            /// The file of the client's secret.
            public var secretFile = ""
            /// The client authentication method.
            public var authentication = Authentication.basic
            /// The requested scope; nil for the server's default.
            public var scope: String?
            /// The requested audience; nil for the server's default.
            public var audience: String?
            /// The file of the certificate authorities that the endpoint is checked against, in PEM; nil for the system's.
            public var certificateAuthority: String?

            /// Credentials without values.
            public init() {}
        }

        /// An extension that the brokers require beside the token.
        public struct Extension: Sendable, Hashable {
            /// The extension's name, in letters.
            public let name: String
            /// The extension's value, in visible characters.
            public let value: String
        }

        /// The source.
        public var source: Source
        /// The extensions that clients send with each token.
        public var extensions: [Extension] = []
    }
}

extension Configuration.OAuth {
    static let section = SectionDescription(
        "oauth",
        """
        Where the tokens of SASL/OAUTHBEARER come from. With it sasl.mechanism is OAUTHBEARER, and properties need \
        security.protocol: sasl_ssl. A token is replaced after 70 to 80 % of its life, for all clients of the process at once.
        """,
        keys: [
            sourceKey.description, tokenFileKey.description, endpointKey.description, clientKey.description,
            secretKey.description, authentication.description, scope.description, audience.description,
            authorityKey.description, regionKey.description, extensionsKey.description,
        ], isRare: true, ifAbsent: .nothing)

    static let sourceKey: DeclaredKey<Kind> = .choice(
        "source", example: "oidc", isRequired: true,
        """
        file: a JWT in a file that something else keeps fresh. oidc: an authorization server, by the client credentials \
        grant. aws_msk_iam: Amazon MSK, with the credentials that AWS's own tools would find.
        """)

    static let extensionsKey = DeclaredKey.mapping(
        "extensions", .texts, example: "{ logicalCluster: lkc-1, identityPoolId: pool-1 }",
        "SASL extensions, for brokers that want some (RFC 7628, section 3.1).")

    /// The keys of a source, which no other source has.
    static func keys(of kind: Kind) -> [any DeclaredMember] {
        switch kind {
        case .file: [tokenFileKey]
        case .oidc: [endpointKey, clientKey, secretKey, authentication, scope, audience, authorityKey]
        case .awsMSKIAM: [regionKey]
        }
    }

    // MARK: Each source's own

    static let tokenFileKey = sourceText(
        "token_file", form: .path, example: "/var/run/secrets/tokens/kafka", "For file: where the token is.")

    static let endpointKey = sourceText(
        "token_endpoint", form: .url, example: "https://login.example.com/oauth2/token",
        "For oidc: the server's token endpoint, https beyond this machine.")

    static let clientKey = sourceText("client_id", example: "remint", "For oidc: the client's name.")

    static let secretKey = sourceText(
        "client_secret_file", form: .path, example: "secrets/kafka-client",
        "For oidc: the file of its secret, mode 600. It is read for each token.")

    static let authentication: Setting<ClientCredentials> = .choice(
        "client_authentication", \.authentication,
        "For oidc: how the client authenticates, in the header Authorization or in the request's body.")

    static let scope: Setting<ClientCredentials> = .text(
        "scope", ifPresent: \.scope, example: "kafka", "For oidc: what is asked for.")

    static let audience: Setting<ClientCredentials> = .text(
        "audience", ifPresent: \.audience, example: "kafka.example.com", "For oidc: the token's audience.")

    static let authorityKey = DeclaredKey.text(
        "certificate_authority", form: .path, example: "ca.pem",
        "For oidc: certificate authorities in PEM, where the endpoint's certificate is not from one the system knows.")

    static let regionKey = sourceText("region", example: "eu-central-1", "For aws_msk_iam: the cluster's region.")

    /// Returns a key that its source requires, and that no other source has.
    private static func sourceText(
        _ name: String, form: ValueForm = .text, example: String, _ summary: String
    ) -> DeclaredKey<String> {
        DeclaredKey(KeyDescription(name, form, example: example, summary)) {
            $0.requiredText($1, example: example)?.text
        }
    }
}
