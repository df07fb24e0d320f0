import AdapterKit
import YAMLReading
import Yams

/// Reads the credentials of a look-up: those the vendor takes, in one place each, and no others. No message about them
/// repeats any of them.
struct CredentialsReader {
    /// Credentials, and the file a secret of theirs came from.
    typealias Found = (credentials: LookupCredentials, file: Configuration.Lookup.File?)
    private typealias Secret = (text: String, file: Configuration.Lookup.File?)

    let source: ConfigurationSource
    let section: Section
    let written: WrittenLookup
    let vendor: String

    private var diagnostics: Diagnostics { section.diagnostics }

    /// A secret that is in the configuration or in a file of its own, and the values of both keys.
    private struct SecretKeys {
        let noun: String
        let inline: Setting<WrittenLookup>
        let file: Setting<WrittenLookup>
        let value: String?
        let path: String?
    }

    private var key: SecretKeys {
        SecretKeys(
            noun: "key", inline: WrittenLookup.key, file: WrittenLookup.keyFile, value: written.secrets.key,
            path: written.secrets.keyFile)
    }

    private var password: SecretKeys {
        SecretKeys(
            noun: "password", inline: WrittenLookup.password, file: WrittenLookup.passwordFile,
            value: written.secrets.password, path: written.secrets.passwordFile)
    }

    /// Returns the credentials that `authorization` needs; nil after reporting an error.
    func read(_ authorization: LookupTerms.Authorization) -> Found? {
        switch authorization {
        case .key:
            let taken = "\(vendor) takes a key"
            refuseUsername(taken)
            refuse(password, taken)
            guard let key = secret(self.key, taken), isHeaderText(key.text, self.key) else { return nil }
            return (.key(key.text), key.file)
        case .basic:
            let taken = "\(vendor) takes a username and a password"
            refuse(key, taken)
            let username = username(taken)
            guard let password = secret(self.password, taken),
                isBasicText(password.text, node(of: self.password), origin(of: self.password)), let username
            else {
                return nil
            }
            return (.basic(username: username, password: password.text), password.file)
        case .mintedToken:
            let taken = "\(vendor) takes a token minted for the user who is asked about"
            refuse(key, taken)
            refuseUsername(taken)
            refuse(password, taken)
            return (.none, nil)
        }
    }

    private func refuse(_ keys: SecretKeys, _ taken: String) {
        for key in [keys.inline, keys.file] { refuse(key, keys.noun, taken) }
    }

    private func refuseUsername(_ taken: String) {
        refuse(WrittenLookup.username, "username", taken)
    }

    private func refuse(_ key: Setting<WrittenLookup>, _ noun: String, _ taken: String) {
        guard section.value(of: key) != nil else { return }
        diagnostics.error(section.key(of: key), "\(taken), not a \(noun); remove \(section.path(of: key))")
    }

    // MARK: One credential

    private func username(_ taken: String) -> String? {
        let key = WrittenLookup.username
        let (node, path) = (section.value(of: key), section.path(of: key))
        guard node != nil else {
            section.missing(key.name, "\(path) is missing: \(taken)")
            return nil
        }
        guard let text = written.username else { return nil }
        guard !text.isEmpty else {
            diagnostics.error(node, "\(path) is empty; give it a value")
            return nil
        }
        guard !text.contains(":") else {
            diagnostics.error(node, "\(path) must not hold a colon (RFC 7617, section 2)")
            return nil
        }
        return isBasicText(text, node, path) ? text : nil
    }

    /// Returns the secret of `keys`, in the configuration or in the file that it names.
    private func secret(_ keys: SecretKeys, _ taken: String) -> Secret? {
        let isInline = section.value(of: keys.inline) != nil
        let isFile = section.value(of: keys.file) != nil
        let path = section.path(of: keys.inline)
        if isInline, isFile {
            diagnostics.error(section.key(of: keys.file), "\(path) stands here too; keep one of them")
            return nil
        }
        guard isFile || isInline else {
            diagnostics.error(
                section.place,
                "\(path) is missing: \(taken); or name its file with \(section.path(of: keys.file))")
            return nil
        }
        guard let found = isFile ? contents(keys) : keys.value.map({ ($0, nil) }) else { return nil }
        guard !found.text.isEmpty else {
            diagnostics.error(node(of: keys), "\(origin(of: keys)) is empty; write the \(keys.noun) there")
            return nil
        }
        return found
    }

    private func contents(_ keys: SecretKeys) -> Secret? {
        guard let path = keys.path, let node = section.value(of: keys.file) else { return nil }
        let name = section.path(of: keys.file)
        guard !path.isEmpty else {
            diagnostics.error(node, "\(name) is empty; give it a value")
            return nil
        }
        guard let text = section.secret(ofFile: path, node, named: name, source) else { return nil }
        let file = Configuration.Lookup.File(
            path: diagnostics.resolve(path), content: .secret, place: diagnostics.place(of: node))
        return (text, file)
    }

    // MARK: What a header can carry

    /// Checks that `text` can be in a header as it is (RFC 9110, section 5.5); a file of several lines, for example,
    /// cannot.
    private func isHeaderText(_ text: String, _ keys: SecretKeys) -> Bool {
        guard text.utf8.count <= 4096, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            diagnostics.error(
                node(of: keys), "\(origin(of: keys)) must be up to 4096 visible ASCII characters without spaces")
            return false
        }
        return true
    }

    private func isBasicText(_ text: String, _ node: Node?, _ origin: String) -> Bool {
        let isPrintable = text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
        guard text.utf8.count <= 4096, isPrintable else {
            diagnostics.error(
                node,
                "\(origin) must be up to 4096 bytes without control characters (RFC 7617, section 2)")
            return false
        }
        return true
    }

    private func node(of keys: SecretKeys) -> Node? { section.value(of: keys.inline) ?? section.value(of: keys.file) }

    private func origin(of keys: SecretKeys) -> String {
        section.value(of: keys.inline) != nil
            ? section.path(of: keys.inline) : "the file of \(section.path(of: keys.file))"
    }
}
