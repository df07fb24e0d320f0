import AdapterKit
import Formats
import YAMLReading
import Yams

/// Reads `pickup`: the gateway's addresses, callers and limits.
struct PickupReader {
    private typealias Keys = Configuration.Pickup

    let apps: [String]

    /// Returns the gateway; nil where the file has none.
    func read(_ section: Section, isThere: Bool) -> Configuration.Pickup? {
        guard isThere else { return nil }
        defer { section.finish() }
        var pickup = Configuration.Pickup()
        pickup.place = section.diagnostics.place(of: section.node)
        if let address = section.read(Keys.listenKey) { (pickup.host, pickup.port) = (address.host, address.port) }
        pickup.metrics = section.read(Keys.metricsKey).map { ($0.host, $0.port) }
        pickup.publicURL = section.read(Keys.publicURLKey)?.text
        section.read(Configuration.Pickup.settings, into: &pickup)
        pickup.trustedProxies = trustedProxies(section)
        if pickup.proxyProtocol, section.value(of: Keys.trustedProxiesKey) == nil {
            section.diagnostics.error(
                section.value(of: Keys.proxyProtocol),
                "\(section.path(of: Keys.proxyProtocol)) needs trusted_proxies: the addresses of the proxies that send the header"
            )
        }
        pickup.origins = origins(section)
        pickup.sealKeys = (section.read(Keys.sealKeysKey) ?? []).map(section.diagnostics.resolve)
        pickup.nonceSecret = section.read(Keys.nonceSecretKey).map(section.diagnostics.resolve)
        pickup.certificate = section.certificate(Keys.tls)
        let sessions = sessions(section)
        pickup.sessions = sessions.compactMap { $0?.session }
        for case .some(let (session, place)) in sessions { pickup.keySetPlaces[session.name] = place }
        // Without all sessions, nobody knows which of them opens an app.
        let isWhole = hasCallers(section) && pickup.sessions.count == sessions.count
        pickup.apps = OpenedAppsReader(apps: apps, sessions: isWhole ? pickup.sessions : nil)
            .read(section.section(Keys.openedApps))
        pickup.apiKeys = apiKeys(section.section(Keys.keysByName))
        if !hasCallers(section) {
            section.missing(
                Keys.session.name,
                "pickup has neither session nor api_keys, so every call is refused; add session or api_keys")
        }
        return pickup
    }

    /// Returns whether the file has sessions or API keys, with or without errors.
    private func hasCallers(_ section: Section) -> Bool {
        ![Keys.session, Keys.sessionsByName, Keys.keysByName].allSatisfy { section.value(of: $0) == nil }
    }

    /// Origins as browsers and apps with a web view send them (RFC 6454, section 6.2): compared byte for byte, so that one
    /// in another spelling is no page's.
    private func origins(_ section: Section) -> [String] {
        let origins = section.read(Keys.originsKey) ?? []
        for origin in origins {
            let scheme = String(origin.prefix { $0 != ":" })
            // An app's own scheme has no port that could be left out.
            let text = Self.appSchemes.contains(scheme) ? "https" + origin.dropFirst(scheme.count) : origin
            let url = try? EndpointURL(parsing: text)
            guard url.map({ "\(scheme)://\($0.authority)" }) != origin else { continue }
            section.diagnostics.error(
                section.value(of: Keys.originsKey),
                "\(section.path(of: Keys.originsKey)) are origins as browsers send them, lowercase and without a path, such as https://shop.example.com"
            )
        }
        return origins
    }

    /// The schemes of apps with a web view, and of browsers' extensions.
    private static let appSchemes = ["capacitor", "ionic", "tauri", "chrome-extension", "moz-extension"]

    private func trustedProxies(_ section: Section) -> [AddressRange] {
        let texts = section.read(Keys.trustedProxiesKey) ?? []
        let ranges = texts.compactMap { AddressRange($0) }
        if ranges.count != texts.count {
            section.diagnostics.error(
                section.value(of: Keys.trustedProxiesKey),
                "\(section.path(of: Keys.trustedProxiesKey)) are addresses or networks without further bits, such as 10.0.0.0/8"
            )
        }
        return ranges
    }

    private typealias PlacedSession = (session: Configuration.Pickup.Session, keySet: FileLocation)

    /// Returns the session without a name, and the named ones, each with the place of its `jwks`; nil for one with errors.
    private func sessions(_ section: Section) -> [PlacedSession?] {
        let first = section.value(of: Keys.session).map { _ in
            session(section.section(Keys.session), Keys.session.name)
        }
        let named = section.section(Keys.sessionsByName)
        let others = named.all.map { key, name, value in
            session(
                Section(value, at: key, name: named.path(name), section.diagnostics),
                "\(Keys.sessionsByName.name).\(name)")
        }
        return (first.map { [$0] } ?? []) + others
    }

    private func session(_ inner: Section, _ name: String) -> PlacedSession? {
        defer { inner.finish() }
        var session = Configuration.Pickup.Session()
        session.name = name
        inner.read([Keys.Session.audience] + Keys.Session.settings, into: &session)
        let named = (
            issuer: inner.placed(Keys.Session.issuerKey), keys: inner.placed(Keys.Session.keySetKey)
        )
        guard let issuer = named.issuer, let keys = named.keys, !inner.diagnostics.isRefused(issuer.node) else {
            return nil
        }
        session.issuer = issuer.value
        let isURL = keys.value.contains("://")
        if isURL, let flaw = Self.flaw(ofKeySet: keys.value) {
            inner.diagnostics.error(keys.node, "\(inner.path(of: Keys.Session.keySetKey)) \(flaw)")
        }
        session.keySet = isURL ? keys.value : inner.diagnostics.resolve(keys.value)
        return (session, inner.diagnostics.place(of: keys.node))
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
        section.all.compactMap { place, name, value in
            let key = Section(value, at: place, name: section.path(name), section.diagnostics)
            defer { key.finish() }
            guard let hash = key.read(Keys.APIKey.hashKey) else { return nil }
            var backend = Keys.APIKey()
            (backend.name, backend.hash) = (name, hash)
            backend.apps = key.read(Keys.APIKey.appsKey) ?? []
            for node in key.value(of: Keys.APIKey.appsKey)?.sequence ?? [] {
                guard let app = node.scalar?.string, !apps.contains(app) else { continue }
                key.diagnostics.error(node, OpenedAppsReader.noApp(app, among: apps, node, key))
            }
            key.read([Keys.APIKey.rate], into: &backend)
            return backend
        }
    }
}
