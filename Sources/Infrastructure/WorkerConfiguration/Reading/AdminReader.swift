import AdapterKit
import Formats
import Yams

/// Reads `admin`: the admin server's address and its access rules.
struct AdminReader {
    private typealias Keys = Configuration.Admin

    /// The fewest bytes of a token, 128 bits where they are random: no caller guesses it.
    private static let leastTokenBytes = 16

    let source: ConfigurationSource

    /// Returns the admin server; nil where the file has none.
    func read(_ section: Section) -> Configuration.Admin? {
        guard section.node?.mapping != nil else { return nil }
        defer { section.finish() }
        var admin = Configuration.Admin()
        admin.place = section.diagnostics.place(of: section.value(of: Keys.listenKey) ?? section.node)
        if let address = section.read(Keys.listenKey) { (admin.host, admin.port) = (address.host, address.port) }
        if let hosts = section.read(Keys.hostsKey) { admin.hosts = hosts }
        admin.tokenFile = tokenFile(section)
        section.read([Keys.open], into: &admin)
        admin.runbook = section.read(Keys.runbookKey)?.text
        admin.certificate = section.certificate(Keys.tls)
        checkReach(of: admin, section)
        return admin
    }

    private func tokenFile(_ section: Section) -> String? {
        guard let (file, node) = section.placed(Keys.tokenKey) else { return nil }
        let name = section.path(of: Keys.tokenKey)
        let token = section.secret(ofFile: file, node, named: name, source)
        if let token, token.utf8.count < Self.leastTokenBytes {
            section.diagnostics.error(
                node, "the token of \(name) is shorter than \(Self.leastTokenBytes) bytes; make a longer one")
        }
        return section.diagnostics.resolve(file)
    }

    /// Refuses an address that other machines reach, without a token and without `open`. Such a server would answer
    /// anyone who can connect.
    private func checkReach(of admin: Configuration.Admin, _ section: Section) {
        guard !admin.isLoopback, section.value(of: Keys.tokenKey) == nil, !admin.isOpen else { return }
        section.diagnostics.error(
            section.value(of: Keys.listenKey),
            "admin.listen can be reached from other machines and asks for no token; set admin.token_file, or write admin.open: true where nobody else gets through to it"
        )
    }
}

extension Configuration.Admin {
    /// Whether this machine alone can reach it.
    public var isLoopback: Bool {
        let authority = host.contains(":") ? "[\(host)]" : host
        return (try? EndpointURL(parsing: "http://\(authority)"))?.isLoopback ?? false
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
