import Formats
import YAMLReading
import Yams

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
            case file(String)
            /// An authorization server.
            case clientCredentials(ClientCredentials)
            /// Amazon MSK in this region.
            case awsMSKIAM(region: String)
        }

        /// The client authentication method (RFC 6749, section 2.3.1).
        public enum Authentication: String, Sendable, CaseIterable {
            case basic
            case post
        }

        /// The parameters of requests to an authorization server.
        public struct ClientCredentials: Sendable, Hashable, WithDefaults {
            /// The token endpoint: https, or http to this machine.
            package var endpoint = ""
            /// The endpoint's host, and its port if it is not 443. Logs and errors may show it.
            package var host = ""
            package var clientID = ""
            /// The file of the client's secret.
            package var secretFile = ""
            package var authentication = Authentication.basic
            /// The requested scope; nil for the server's default.
            package var scope: String?
            /// The requested audience; nil for the server's default.
            package var audience: String?
            /// The file of the certificate authorities that the endpoint is checked against, in PEM; nil for the system's.
            package var certificateAuthority: String?

            package init() {}
        }

        /// An extension that the brokers require beside the token.
        public struct Extension: Sendable, Hashable {
            /// The extension's name, in letters.
            package let name: String
            /// The extension's value, in visible characters.
            package let value: String
        }

        package var source: Source
        /// The extensions that clients send with each token.
        package var extensions: [Extension] = []
    }
}

extension Configuration.OAuth {
    static let section = SectionDescription(
        "oauth",
        """
        Source of the tokens for SASL/OAUTHBEARER. This section sets sasl.mechanism to OAUTHBEARER, and requires \
        security.protocol: sasl_ssl in properties. Remint replaces a token after 70 to 80 % of its lifetime, for all \
        Kafka clients of the process at once.
        """,
        keys: .of(
            sourceKey, tokenFileKey, endpointKey, clientKey, secretKey, authentication, scope, audience, authorityKey,
            regionKey, extensionsKey), isRare: true, ifAbsent: .nothing)

    static let sourceKey: FileKey<Kind> = .choice(
        "source", example: "oidc", isRequired: true,
        """
        Kind of the source. file: a file with a JWT that another program renews. oidc: an authorization server, with \
        the client credentials grant. aws_msk_iam: Amazon MSK, with AWS credentials. Remint looks for these in \
        AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, the pod's web identity, ~/.aws/credentials and the container's \
        endpoint, in this order.
        """)

    static let extensionsKey = FileKey.mapping(
        "extensions", .mapping(of: .scalar), example: "{ logicalCluster: lkc-1, identityPoolId: pool-1 }",
        "SASL extensions, if the brokers require any (RFC 7628, section 3.1).")

    static func keys(of kind: Kind) -> [any DeclaredMember] {
        switch kind {
        case .file: [tokenFileKey]
        case .oidc: [endpointKey, clientKey, secretKey, authentication, scope, audience, authorityKey]
        case .awsMSKIAM: [regionKey]
        }
    }

    // MARK: Each source's own

    static let tokenFileKey = sourceText(
        "token_file", form: .path, example: "/var/run/secrets/tokens/kafka",
        "File with the token. Only for source: file.")

    static let endpointKey = sourceText(
        "token_endpoint", form: .url, example: "https://login.example.com/oauth2/token",
        "Token endpoint of the server: https, or http on this machine. Only for source: oidc.")

    static let clientKey = sourceText("client_id", example: "remint", "Id of the client. Only for source: oidc.")

    static let secretKey = sourceText(
        "client_secret_file", form: .path, example: "secrets/kafka-client",
        "File with the client's secret, mode 600. Remint reads this file for each token. Only for source: oidc.")

    static let authentication: Setting<ClientCredentials> = .choice(
        "client_authentication", \.authentication,
        """
        Client authentication method. basic: the header Authorization. post: the request's body. Only for source: \
        oidc.
        """)

    static let scope: Setting<ClientCredentials> = .text(
        "scope", ifPresent: \.scope, example: "kafka",
        "Scope that Remint requests. Default: the server's. Only for source: oidc.")

    static let audience: Setting<ClientCredentials> = .text(
        "audience", ifPresent: \.audience, example: "kafka.example.com",
        "Audience of the token that Remint requests. Default: the server's. Only for source: oidc.")

    static let authorityKey = FileKey.text(
        "certificate_authority", form: .path, example: "ca.pem",
        """
        File with the certificate authorities of the endpoint's certificate, in PEM. Default: the authorities of the \
        system. Only for source: oidc.
        """)

    static let regionKey = sourceText(
        "region", example: "eu-central-1", "AWS region of the cluster. Only for source: aws_msk_iam.")

    private static func sourceText(
        _ name: String, form: FileForm = .text(), example: String, _ summary: String
    ) -> FileKey<String> {
        FileKey(name, form, example: example, summary) {
            $0.requiredText($1, example: example)?.text
        }
    }
}

// MARK: Reading

extension Configuration.OAuth {
    /// Returns the values of the section in `kafka`; nil where it is missing or has errors.
    static func read(_ kafka: Section, _ source: ConfigurationSource) -> Configuration.OAuth? {
        guard kafka.value(of: section) != nil else { return nil }
        let section = kafka.section(section)
        defer { section.finish() }
        // Without a source nobody knows which keys are in their place, and all of them are known.
        for key in Kind.allCases.flatMap(keys) + [extensionsKey] { _ = section.value(of: key) }
        guard let kind = section.read(sourceKey) else { return nil }
        for other in Kind.allCases where other != kind { refuse(keys(of: other), kind, section) }
        let extensions = section.read(extensionsKey).map(extensions) ?? []
        return found(kind, section, source).map { Configuration.OAuth(source: $0, extensions: extensions) }
    }

    private static func found(_ kind: Kind, _ section: Section, _ source: ConfigurationSource) -> Source? {
        switch kind {
        case .file: section.read(tokenFileKey).map { .file(section.diagnostics.resolve($0)) }
        case .oidc: clientCredentials(section, source).map { .clientCredentials($0) }
        case .awsMSKIAM: region(section).map { .awsMSKIAM(region: $0) }
        }
    }

    private static func refuse(_ keys: [any DeclaredMember], _ kind: Kind, _ section: Section) {
        for key in keys where section.value(of: key) != nil {
            section.error(key, at: section.key(of: key), "is not for the source \(kind.rawValue); remove it")
        }
    }

    private static func clientCredentials(
        _ section: Section, _ source: ConfigurationSource
    ) -> ClientCredentials? {
        var settings = ClientCredentials()
        let endpoint = endpoint(section)
        let id = section.read(clientKey)
        let file = section.placed(secretKey)
        section.read([authentication, scope, audience], into: &settings)
        settings.certificateAuthority = section.read(authorityKey).map(section.diagnostics.resolve)
        guard let endpoint, let id, let file else { return nil }
        // The secret is read each time a token is fetched, because it may be replaced. Here only its presence is
        // checked.
        let name = section.path(of: secretKey)
        let secret = section.secret(ofFile: file.value, file.node, named: name, source)
        if let secret, secret.isEmpty {
            section.diagnostics.error(file.node, "the file of \(name) is empty; write the secret there")
        }
        settings.endpoint = endpoint.text
        settings.host = endpoint.authority
        settings.clientID = id
        settings.secretFile = section.diagnostics.resolve(file.value)
        return settings
    }

    private static func endpoint(_ section: Section) -> EndpointURL? {
        guard let (text, node) = section.placed(endpointKey) else { return nil }
        do throws(EndpointURL.Problem) {
            let url = try EndpointURL(parsing: text)
            if url.isEncrypted || url.isLoopback { return url }
            section.error(endpointKey, at: node, "must be https: the client's secret goes there")
        } catch { section.diagnostics.error(node, "\(section.path(of: endpointKey)) \(error.message)") }
        return nil
    }

    /// Returns the region, which becomes a part of host names.
    private static func region(_ section: Section) -> String? {
        guard let (text, node) = section.placed(regionKey) else { return nil }
        guard text.utf8.allSatisfy({ (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }) else {
            section.error(regionKey, at: node, "must be a region's name, such as eu-central-1")
            return nil
        }
        return text
    }

    private static func extensions(_ section: Section) -> [Extension] {
        section.all.compactMap { key, name, value in
            let isName =
                !name.isEmpty && name != "auth"
                && name.utf8.allSatisfy { (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) }
            guard isName, let text = value.scalar?.string, text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
                section.diagnostics.error(
                    key,
                    "\(section.path(name)): an extension has a name of letters, not auth, and a value of visible characters"
                )
                return nil
            }
            return Extension(name: name, value: text)
        }
    }
}
