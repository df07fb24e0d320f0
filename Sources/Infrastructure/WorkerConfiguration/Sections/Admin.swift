import AdapterKit
import Formats
import Yams

extension Configuration {
    /// The admin server.
    public struct Admin: Sendable, WithDefaults {
        /// The address, without brackets.
        package var host = "127.0.0.1"
        /// The port; 0 for any.
        package var port = 9464
        /// The place of `listen` in the file, or of the section if `listen` is left out.
        package var place: FileLocation?
        /// Further names that requests may ask for in `Host`, besides the address and this machine's own.
        package var hosts: [String] = []
        /// The file with the token that everything but the page and the probes asks for; nil for none.
        package var tokenFile: String?
        package var isOpen = false
        /// The address of the folder that OPERATION.md is in; nil for none.
        package var runbook: String?
        /// The PEM files of certificate chain and key; nil for plain text.
        package var certificate: (chain: String, key: String)?
    }
}

extension Configuration.Admin {
    static let section = SectionDescription(
        "admin",
        """
        Admin server of the worker. The server has a status page at /, and the paths /status, /fleet, /codes, \
        /metrics, /health/live, /health/ready, /apps and /keys/RING/jwks.json. The server refuses requests from web \
        pages of other sites. Without this section, the worker has no admin server.
        """,
        keys: .of(listenKey, hostsKey, tokenKey, open, runbookKey),
        sections: [tls.section], ifAbsent: .nothing)

    static let tls = CertificateKeys(
        "Certificate and private key of the admin server. Without this section, the admin server uses plain text.",
        examples: ("tls/admin.pem", "tls/admin-key.pem"))

    static let listenKey = FileKey.address(
        "listen", standard: "\(Configuration.Admin().host):\(Configuration.Admin().port)",
        """
        Address and port of the admin server. If other machines can reach this address, token_file or open: true is \
        required.
        """)
    static let hostsKey = FileKey.list(
        "hosts", example: "[remint.internal]", orElse: "a list of host names, such as [remint.internal]",
        """
        Host names that a request may have in its header Host, in addition to addresses and localhost. They also apply \
        to pickup.metrics.
        """)
    static let tokenKey = FileKey.text(
        "token_file", form: .path, example: "secrets/admin-token",
        """
        File with a token of 16 bytes or more, mode 600. Each request must then have the header Authorization: Bearer \
        TOKEN. Only /health, /codes and the status page without its figures need no token.
        """)
    static let runbookKey = FileKey.endpoint(
        "runbook", example: "https://wiki.example.com/remint/",
        """
        URL of the folder in which your engineers read OPERATION.md. The status page then links each problem to its \
        section. Default: the page names the section.
        """)
    static let open: Setting<Self> = .bool(
        "open", \.isOpen,
        """
        Whether other machines may call the admin server without a token. Set true only in a network in which nobody \
        else can reach the server.
        """)
}

// MARK: Reading

extension Configuration.Admin {
    /// The fewest bytes of a token, 128 bits where they are random: no caller guesses it.
    private static let leastTokenBytes = 16

    /// The server in `section`; nil where the file has none.
    init?(reading section: Section, _ source: ConfigurationSource) {
        guard section.node?.mapping != nil else { return nil }
        defer { section.finish() }
        self.init()
        place = section.diagnostics.place(of: section.value(of: Self.listenKey) ?? section.node)
        if let address = section.read(Self.listenKey) { (host, port) = (address.host, address.port) }
        if let hosts = section.read(Self.hostsKey) { self.hosts = hosts }
        tokenFile = Self.tokenFile(section, source)
        section.read([Self.open], into: &self)
        runbook = section.read(Self.runbookKey)?.text
        certificate = section.certificate(Self.tls)
        checkReach(section)
    }

    private static func tokenFile(_ section: Section, _ source: ConfigurationSource) -> String? {
        guard let (file, node) = section.placed(tokenKey) else { return nil }
        let name = section.path(of: tokenKey)
        let token = section.secret(ofFile: file, node, named: name, source)
        if let token, token.utf8.count < leastTokenBytes {
            section.diagnostics.error(
                node, "the token of \(name) is shorter than \(leastTokenBytes) bytes; make a longer one")
        }
        return section.diagnostics.resolve(file)
    }

    /// Refuses an address that other machines reach, without a token and without `open`. Such a server would answer
    /// anyone who can connect.
    private func checkReach(_ section: Section) {
        guard !isLoopback, section.value(of: Self.tokenKey) == nil, !isOpen else { return }
        section.diagnostics.error(
            section.value(of: Self.listenKey),
            "admin.listen can be reached from other machines and asks for no token; set admin.token_file, or write admin.open: true where nobody else gets through to it"
        )
    }

    /// Whether this machine alone can reach it.
    package var isLoopback: Bool {
        let authority = host.contains(":") ? "[\(host)]" : host
        return (try? EndpointURL(parsing: "http://\(authority)"))?.isLoopback ?? false
    }
}

/// The section `tls` of a server: the PEM files of its certificate chain and its key.
struct CertificateKeys: Sendable {
    let section: SectionDescription
    let chain: FileKey<String>
    let key: FileKey<String>

    init(_ summary: String, examples: (chain: String, key: String)) {
        chain = .text(
            "certificate", form: .path, example: examples.chain, isRequired: true,
            "File with the certificate and its chain, in PEM.")
        key = .text(
            "key", form: .path, example: examples.key, isRequired: true, "File with the private key, in PEM, mode 600.")
        section = SectionDescription(
            "tls", summary, keys: [chain.description, key.description], isRare: true, ifAbsent: .nothing)
    }
}

extension Section {
    /// Returns the PEM files of certificate chain and key; nil where the section is left out.
    func certificate(_ keys: CertificateKeys) -> (chain: String, key: String)? {
        guard value(of: keys.section) != nil else { return nil }
        let tls = section(keys.section)
        defer { tls.finish() }
        let named = (chain: tls.read(keys.chain), key: tls.read(keys.key))
        guard let chain = named.chain, let key = named.key else { return nil }
        return (diagnostics.resolve(chain), diagnostics.resolve(key))
    }
}
