import AdapterKit
import Formats
import Yams

/// Reads `pickup`: the gateway's addresses, callers and limits.
struct PickupReader {
    let apps: [String]

    /// Returns the gateway; nil where the file has none.
    func read(_ section: Section, isThere: Bool) -> Configuration.Pickup? {
        guard isThere else { return nil }
        defer { section.finish() }
        var pickup = Configuration.Pickup()
        pickup.place = section.diagnostics.place(of: section.node)
        if let (host, port) = address(Configuration.Pickup.listenKey, section) {
            (pickup.host, pickup.port) = (host, port)
        }
        pickup.metrics = address("metrics", section.requiredTextIfPresent("metrics"), section)
        pickup.publicURL = publicURL(section)
        section.read(Configuration.Pickup.settings, into: &pickup)
        pickup.trustedProxies = trustedProxies(section)
        if pickup.proxyProtocol, section.value("trusted_proxies") == nil {
            section.diagnostics.error(
                section.value("proxy_protocol"),
                "\(section.path("proxy_protocol")) needs trusted_proxies: the addresses of the proxies that send the header"
            )
        }
        pickup.origins = origins(section)
        pickup.sealKeys = list("seal_keys", section).map(section.diagnostics.resolve)
        pickup.nonceSecret = section.requiredTextIfPresent("proof_nonce_secret").map {
            section.diagnostics.resolve($0.text)
        }
        pickup.certificate = section.certificate(
            "tls", keys: (Configuration.Pickup.certificateKey, Configuration.Pickup.privateKeyKey))
        pickup.sessions = sessions(section)
        pickup.apps = OpenedAppsReader(apps: apps, sessions: pickup.sessions).read(section.section("apps"))
        pickup.apiKeys = apiKeys(section.section("api_keys"))
        if section.value("session") == nil, section.value("sessions") == nil, section.value("api_keys") == nil {
            section.diagnostics.error(
                section.node,
                "pickup has neither session nor api_keys, so every call is refused; add session or api_keys")
        }
        return pickup
    }

    private func address(_ key: KeyDescription, _ section: Section) -> (host: String, port: Int)? {
        address(key.name, section.requiredText(key), section)
    }

    private func address(
        _ name: String, _ found: (text: String, node: Node)?, _ section: Section
    ) -> (host: String, port: Int)? {
        guard let (text, node) = found else { return nil }
        guard let address = HostAndPort(text) else {
            section.diagnostics.error(node, "\(section.path(name)) must be host:port, such as 127.0.0.1:8080")
            return nil
        }
        return (address.host, address.port)
    }

    private func publicURL(_ section: Section) -> String? {
        guard let (text, node) = section.requiredTextIfPresent("public_url") else { return nil }
        do throws(EndpointURL.Problem) {
            return try EndpointURL(parsing: text).text
        } catch {
            section.diagnostics.error(node, "\(section.path("public_url")) \(error.message)")
            return nil
        }
    }

    /// Origins as browsers send them (RFC 6454, section 6.2): compared byte for byte, so that one in another spelling is no page's.
    private func origins(_ section: Section) -> [String] {
        let origins = list("origins", section)
        for origin in origins {
            let url = try? EndpointURL(parsing: origin)
            guard url.map({ "\($0.isEncrypted ? "https" : "http")://\($0.authority)" }) != origin else { continue }
            section.diagnostics.error(
                section.value("origins"),
                "\(section.path("origins")) are origins as browsers send them, lowercase and without a path, such as https://shop.example.com"
            )
        }
        return origins
    }

    private func trustedProxies(_ section: Section) -> [AddressRange] {
        let texts = list("trusted_proxies", section)
        let ranges = texts.compactMap { AddressRange($0) }
        if ranges.count != texts.count {
            section.diagnostics.error(
                section.value("trusted_proxies"),
                "\(section.path("trusted_proxies")) are addresses or networks without further bits, such as 10.0.0.0/8")
        }
        return ranges
    }

    private func list(_ name: String, _ section: Section) -> [String] {
        guard let node = section.value(name) else { return [] }
        let texts = node.sequence?.compactMap { $0.scalar?.string } ?? []
        if texts.isEmpty || texts.count != node.sequence?.count {
            section.diagnostics.error(node, "\(section.path(name)) must be a list of texts, as in [a, b]")
        }
        return texts
    }

    /// Returns the session without a name, and the named ones.
    private func sessions(_ section: Section) -> [Configuration.Pickup.Session] {
        let first = section.value("session").flatMap { _ in session(section.section("session"), "session") }
        let named = section.section("sessions")
        let others = named.all.compactMap { _, name, value in
            session(Section(value, name: named.path(name), section.diagnostics), "sessions.\(name)")
        }
        return (first.map { [$0] } ?? []) + others
    }

    private func session(_ inner: Section, _ name: String) -> Configuration.Pickup.Session? {
        defer { inner.finish() }
        var session = Configuration.Pickup.Session()
        session.name = name
        inner.read(Configuration.Pickup.sessionSettings, into: &session)
        session.audience = inner.requiredTextIfPresent("audience")?.text
        if inner.value("algorithms") != nil {
            let names = list("algorithms", inner)
            let known = names.compactMap(Algorithm.init(named:))
            if known.count != names.count || !known.allSatisfy(Configuration.Pickup.sessionAlgorithms.contains) {
                let list = Configuration.Pickup.sessionAlgorithms.flatMap(\.names).joined(separator: ", ")
                inner.diagnostics.error(
                    inner.value("algorithms"), "\(inner.path("algorithms")) knows \(list), and no shared secrets")
            }
            session.algorithms = Set(known)
        }
        let named = (
            issuer: inner.requiredText(Configuration.Pickup.issuerKey),
            keys: inner.requiredText(Configuration.Pickup.keySetKey)
        )
        guard let issuer = named.issuer, let keys = named.keys else { return nil }
        session.issuer = issuer.text
        let isURL = keys.text.contains("://")
        if isURL, let flaw = Self.flaw(ofKeySet: keys.text) {
            inner.diagnostics.error(keys.node, "\(inner.path("jwks")) \(flaw)")
        }
        session.keySet = isURL ? keys.text : inner.diagnostics.resolve(keys.text)
        return session
    }

    /// Returns the reason not to believe keys that come from `url`; nil if there is none. Plain http never leaves this machine. A
    /// query may follow.
    private static func flaw(ofKeySet url: String) -> String? {
        do throws(EndpointURL.Problem) {
            let endpoint = try EndpointURL(parsing: String(url.prefix { $0 != "?" }))
            return endpoint.isEncrypted || endpoint.isLoopback ? nil : "must be an https URL, or a file"
        } catch { return error.message }
    }

    private func apiKeys(_ section: Section) -> [Configuration.Pickup.APIKey] {
        section.all.compactMap { _, name, value in
            let key = Section(value, name: section.path(name), section.diagnostics)
            defer { key.finish() }
            guard let (hash, node) = key.requiredText(Configuration.Pickup.hashKey) else { return nil }
            guard hash.utf8.count == 64, hash.allSatisfy(\.isHexDigit) else {
                key.diagnostics.error(node, "\(key.path("hash")) must be 64 hexadecimal digits, the key's SHA-256")
                return nil
            }
            let scope = list("apps", key)
            for node in key.value("apps")?.sequence ?? [] {
                guard let app = node.scalar?.string, !apps.contains(app) else { continue }
                key.diagnostics.error(node, OpenedAppsReader.noApp(app, among: apps, node, key))
            }
            let rate = key.integer("rate", in: Configuration.Pickup.APIKey.rates)
            return Configuration.Pickup.APIKey(
                name: name, hash: hash, apps: scope, rate: rate ?? Configuration.Pickup.APIKey.standardRate)
        }
    }
}

/// An address to listen on, as `host:port` or `[address]:port`.
struct HostAndPort {
    let host: String
    let port: Int

    init(host: String, port: Int) { (self.host, self.port) = (host, port) }

    init?(_ text: String) {
        // The last colon: an IPv6 address has some of its own, in brackets.
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]),
            case let host = text[..<colon].drop(while: { $0 == "[" }).prefix(while: { $0 != "]" }), !host.isEmpty,
            text.utf8.allSatisfy(Self.isPart)
        else { return nil }
        self.host = String(host)
        self.port = Int(port)
    }

    /// Returns whether `byte` may be in a name, an address or an IPv6 address's zone: none of these characters allows a
    /// scheme or credentials.
    private static func isPart(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: ".:-_%[]".utf8.contains(byte)
        }
    }
}
