import AdapterKit
import Formats
import Yams

/// Reads `admin`: the admin server's address and its access rules.
struct AdminReader {
    let source: ConfigurationSource

    /// Returns the admin server; nil where the file has none.
    func read(_ section: Section) -> Configuration.Admin? {
        guard section.node?.mapping != nil else { return nil }
        defer { section.finish() }
        var admin = Configuration.Admin()
        admin.place = section.diagnostics.place(of: section.value("listen") ?? section.node)
        if let (text, node) = section.requiredTextIfPresent("listen") {
            if let address = HostAndPort(text) {
                (admin.host, admin.port) = (address.host, address.port)
            } else {
                section.diagnostics.error(node, "admin.listen must be host:port, such as 127.0.0.1:9464")
            }
        }
        if let names = section.value("hosts") {
            admin.hosts = names.sequence?.compactMap { $0.scalar?.string } ?? []
            if admin.hosts.isEmpty || admin.hosts.count != names.sequence?.count {
                section.diagnostics.error(names, "admin.hosts must be a list of host names, such as [remint.internal]")
            }
        }
        admin.tokenFile = tokenFile(section)
        admin.isOpen = section.bool("open") ?? false
        admin.certificate = section.certificate(
            "tls", keys: (Configuration.Admin.certificateKey, Configuration.Admin.privateKeyKey))
        checkReach(of: admin, section)
        return admin
    }

    private func tokenFile(_ section: Section) -> String? {
        guard let (file, node) = section.requiredTextIfPresent("token_file") else { return nil }
        let token = section.secret(ofFile: file, node, named: "admin.token_file", source)
        if let token, token.utf8.count < 16 {
            section.diagnostics.error(node, "the token of admin.token_file is shorter than 16 bytes; make a longer one")
        }
        return section.diagnostics.resolve(file)
    }

    /// Refuses an address that other machines reach, without a token and without `open`. Such a server would answer
    /// anyone who can connect.
    private func checkReach(of admin: Configuration.Admin, _ section: Section) {
        guard !admin.isLoopback, section.value("token_file") == nil, !admin.isOpen else { return }
        section.diagnostics.error(
            section.value("listen"),
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
    /// Returns the PEM files of certificate chain and key in the section `name`; nil where it is left out.
    func certificate(
        _ name: String, keys: (certificate: KeyDescription, key: KeyDescription)
    ) -> (chain: String, key: String)? {
        guard value(name) != nil else { return nil }
        let tls = section(name)
        defer { tls.finish() }
        let named = (chain: tls.requiredText(keys.certificate), key: tls.requiredText(keys.key))
        guard let chain = named.chain, let key = named.key else { return nil }
        return (diagnostics.resolve(chain.text), diagnostics.resolve(key.text))
    }
}
