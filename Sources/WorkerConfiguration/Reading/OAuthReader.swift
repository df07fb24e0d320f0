import Formats
import Yams

/// Reads `kafka.oauth`: a source of tokens with the keys that it needs, and no keys of another source.
struct OAuthReader {
    let source: ConfigurationSource

    /// Returns the section's values; nil where it is missing or has errors.
    func read(_ section: Section, isThere: Bool) -> Configuration.OAuth? {
        guard isThere else { return nil }
        defer { section.finish() }
        // Without a source nobody knows which keys are in their place, and all of them are known.
        for name in Configuration.OAuth.Kind.allCases.flatMap(Self.keys) + ["extensions"] { _ = section.value(name) }
        guard required("source", section) != nil,
            let (kind, _) = section.choice("source", Configuration.OAuth.Kind.self)
        else { return nil }
        for other in Configuration.OAuth.Kind.allCases where other != kind {
            refuse(Self.keys(of: other), kind, section)
        }
        let extensions = extensions(section.section("extensions"))
        return found(kind, section).map { Configuration.OAuth(source: $0, extensions: extensions) }
    }

    private func found(_ kind: Configuration.OAuth.Kind, _ section: Section) -> Configuration.OAuth.Source? {
        switch kind {
        case .file: required("token_file", section).map { .file(section.diagnostics.resolve($0.text)) }
        case .oidc: clientCredentials(section).map { .clientCredentials($0) }
        case .awsMSKIAM: region(section).map { .awsMSKIAM(region: $0) }
        }
    }

    private static func keys(of kind: Configuration.OAuth.Kind) -> [String] {
        switch kind {
        case .file: ["token_file"]
        case .oidc:
            [
                "token_endpoint", "client_id", "client_secret_file", "client_authentication", "scope", "audience",
                "certificate_authority",
            ]
        case .awsMSKIAM: ["region"]
        }
    }

    private func refuse(_ names: [String], _ kind: Configuration.OAuth.Kind, _ section: Section) {
        for name in names where section.value(name) != nil {
            section.diagnostics.error(
                section.key(name), "\(section.path(name)) is not for the source \(kind.rawValue); remove it")
        }
    }

    private func required(_ name: String, _ section: Section) -> (text: String, node: Node)? {
        section.requiredText(name, example: Configuration.OAuth.section.keys.first { $0.name == name }?.example)
    }

    // MARK: Sources

    private func clientCredentials(_ section: Section) -> Configuration.OAuth.ClientCredentials? {
        var settings = Configuration.OAuth.ClientCredentials()
        let endpoint = endpoint(section)
        let id = required("client_id", section)
        let file = required("client_secret_file", section)
        section.read([Configuration.OAuth.authentication], into: &settings)
        settings.scope = section.requiredTextIfPresent("scope")?.text
        settings.audience = section.requiredTextIfPresent("audience")?.text
        settings.certificateAuthority = section.requiredTextIfPresent("certificate_authority").map {
            section.diagnostics.resolve($0.text)
        }
        guard let endpoint, let id, let file else { return nil }
        // The secret is read each time a token is fetched, because it may be replaced. Here only its presence is
        // checked.
        let secret = section.secret(ofFile: file.text, file.node, named: section.path("client_secret_file"), source)
        if let secret, secret.isEmpty {
            section.diagnostics.error(
                file.node, "the file of \(section.path("client_secret_file")) is empty; write the secret there")
        }
        settings.endpoint = endpoint.text
        settings.host = endpoint.authority
        settings.clientID = id.text
        settings.secretFile = section.diagnostics.resolve(file.text)
        return settings
    }

    private func endpoint(_ section: Section) -> EndpointURL? {
        guard let (text, node) = required("token_endpoint", section) else { return nil }
        do throws(EndpointURL.Problem) {
            let url = try EndpointURL(parsing: text)
            if url.isEncrypted || url.isLoopback { return url }
            section.diagnostics.error(
                node, "\(section.path("token_endpoint")) must be https: the client's secret goes there")
        } catch { section.diagnostics.error(node, "\(section.path("token_endpoint")) \(error.message)") }
        return nil
    }

    /// Returns the region, which becomes a part of host names.
    private func region(_ section: Section) -> String? {
        guard let (text, node) = required("region", section) else { return nil }
        guard text.utf8.allSatisfy({ (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }) else {
            section.diagnostics.error(node, "\(section.path("region")) must be a region's name, such as eu-central-1")
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
