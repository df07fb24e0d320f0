import Formats
import YAMLReading
import Yams

/// Reads `kafka.oauth`: a source of tokens with the keys that it needs, and no keys of another source.
struct OAuthReader {
    private typealias Keys = Configuration.OAuth

    let source: ConfigurationSource

    /// Returns the section's values; nil where it is missing or has errors.
    func read(_ section: Section, isThere: Bool) -> Configuration.OAuth? {
        guard isThere else { return nil }
        defer { section.finish() }
        // Without a source nobody knows which keys are in their place, and all of them are known.
        for key in Keys.Kind.allCases.flatMap(Keys.keys) + [Keys.extensionsKey] { _ = section.value(of: key) }
        guard let kind = section.read(Keys.sourceKey) else { return nil }
        for other in Keys.Kind.allCases where other != kind { refuse(Keys.keys(of: other), kind, section) }
        let extensions = section.read(Keys.extensionsKey).map(extensions) ?? []
        return found(kind, section).map { Configuration.OAuth(source: $0, extensions: extensions) }
    }

    private func found(_ kind: Configuration.OAuth.Kind, _ section: Section) -> Configuration.OAuth.Source? {
        switch kind {
        case .file: section.read(Keys.tokenFileKey).map { .file(section.diagnostics.resolve($0)) }
        case .oidc: clientCredentials(section).map { .clientCredentials($0) }
        case .awsMSKIAM: region(section).map { .awsMSKIAM(region: $0) }
        }
    }

    private func refuse(_ keys: [any DeclaredMember], _ kind: Configuration.OAuth.Kind, _ section: Section) {
        for key in keys where section.value(of: key) != nil {
            section.diagnostics.error(
                section.key(of: key), "\(section.path(of: key)) is not for the source \(kind.rawValue); remove it")
        }
    }

    // MARK: Sources

    private func clientCredentials(_ section: Section) -> Configuration.OAuth.ClientCredentials? {
        var settings = Configuration.OAuth.ClientCredentials()
        let endpoint = endpoint(section)
        let id = section.read(Keys.clientKey)
        let file = section.placed(Keys.secretKey)
        section.read([Keys.authentication, Keys.scope, Keys.audience], into: &settings)
        settings.certificateAuthority = section.read(Keys.authorityKey).map(section.diagnostics.resolve)
        guard let endpoint, let id, let file else { return nil }
        // The secret is read each time a token is fetched, because it may be replaced. Here only its presence is
        // checked.
        let name = section.path(of: Keys.secretKey)
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

    private func endpoint(_ section: Section) -> EndpointURL? {
        guard let (text, node) = section.placed(Keys.endpointKey) else { return nil }
        do throws(EndpointURL.Problem) {
            let url = try EndpointURL(parsing: text)
            if url.isEncrypted || url.isLoopback { return url }
            section.diagnostics.error(
                node, "\(section.path(of: Keys.endpointKey)) must be https: the client's secret goes there")
        } catch { section.diagnostics.error(node, "\(section.path(of: Keys.endpointKey)) \(error.message)") }
        return nil
    }

    /// Returns the region, which becomes a part of host names.
    private func region(_ section: Section) -> String? {
        guard let (text, node) = section.placed(Keys.regionKey) else { return nil }
        guard text.utf8.allSatisfy({ (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }) else {
            section.diagnostics.error(
                node, "\(section.path(of: Keys.regionKey)) must be a region's name, such as eu-central-1")
            return nil
        }
        return text
    }

    private func extensions(_ section: Section) -> [Configuration.OAuth.Extension] {
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
            return Configuration.OAuth.Extension(name: name, value: text)
        }
    }
}
