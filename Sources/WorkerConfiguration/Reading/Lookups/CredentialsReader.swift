import AdapterKit
import Yams

/// Reads the credentials of a look-up: those the vendor takes, in one place each, and no others. Nothing that is said
/// about them repeats any of them.
struct CredentialsReader {
    /// Credentials, and the file a secret of theirs came from.
    typealias Found = (credentials: LookupCredentials, file: Configuration.Lookup.File?)
    private typealias Secret = (text: String, file: Configuration.Lookup.File?)

    let source: ConfigurationSource
    let written: WrittenLookup
    let vendor: String

    private var section: Section { written.section }
    private var diagnostics: Diagnostics { written.section.diagnostics }

    /// Returns the credentials that `authorization` needs; nil after reporting an error.
    func read(_ authorization: LookupTerms.Authorization) -> Found? {
        switch authorization {
        case .key:
            let taken = "\(vendor) takes a key"
            refuse(["username", "password", "password_file"], taken)
            guard let key = secret("key", taken), isHeaderText(key.text, "key") else { return nil }
            return (.key(key.text), key.file)
        case .basic:
            let taken = "\(vendor) takes a username and a password"
            refuse(["key", "key_file"], taken)
            let username = username(taken)
            guard let password = secret("password", taken), isBasicText(password.text, "password"), let username else {
                return nil
            }
            return (.basic(username: username, password: password.text), password.file)
        case .mintedToken:
            refuse(
                ["key", "key_file", "username", "password", "password_file"],
                "\(vendor) takes a token minted for the user who is asked about")
            return (.none, nil)
        }
    }

    private func refuse(_ names: [String], _ taken: String) {
        for name in names where section.value(name) != nil {
            let kind = name.hasSuffix("_file") ? String(name.dropLast(5)) : name
            diagnostics.error(section.key(name), "\(taken), not a \(kind); remove \(section.path(name))")
        }
    }

    // MARK: One credential

    private func username(_ taken: String) -> String? {
        guard section.value("username") != nil else {
            diagnostics.error(section.node, "\(section.path("username")) is missing: \(taken)")
            return nil
        }
        guard let (text, node) = written.texts["username"] else { return nil }
        guard !text.isEmpty else {
            diagnostics.error(node, "\(section.path("username")) is empty; give it a value")
            return nil
        }
        guard !text.contains(":") else {
            diagnostics.error(node, "\(section.path("username")) must not hold a colon (RFC 7617, section 2)")
            return nil
        }
        return isBasicText(text, "username") ? text : nil
    }

    /// The secret `name`, written out or in the file that `name_file` names.
    private func secret(_ name: String, _ taken: String) -> Secret? {
        let file = "\(name)_file"
        let isFile = section.value(file) != nil
        if section.value(name) != nil, isFile {
            diagnostics.error(section.key(file), "\(section.path(name)) stands here too; keep one of them")
            return nil
        }
        guard isFile || section.value(name) != nil else {
            diagnostics.error(
                section.node, "\(section.path(name)) is missing: \(taken); or name its file with \(section.path(file))")
            return nil
        }
        guard let found = isFile ? contents(file) : written.texts[name].map({ ($0.text, nil) }) else { return nil }
        guard !found.text.isEmpty else {
            diagnostics.error(node(of: name), "\(origin(of: name)) is empty; write the \(name) there")
            return nil
        }
        return found
    }

    private func contents(_ name: String) -> Secret? {
        guard let (path, node) = written.texts[name] else { return nil }
        guard !path.isEmpty else {
            diagnostics.error(node, "\(section.path(name)) is empty; give it a value")
            return nil
        }
        guard let text = section.secret(ofFile: path, node, named: section.path(name), source) else { return nil }
        let file = Configuration.Lookup.File(
            path: diagnostics.resolve(path), content: .secret, place: diagnostics.place(of: node))
        return (text, file)
    }

    // MARK: What a header can carry

    /// Checks that `text` can be in a header as it is (RFC 9110, section 5.5); a file of several lines, for example,
    /// cannot.
    private func isHeaderText(_ text: String, _ name: String) -> Bool {
        guard text.utf8.count <= 4096, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            diagnostics.error(
                node(of: name), "\(origin(of: name)) must be up to 4096 visible ASCII characters without spaces")
            return false
        }
        return true
    }

    private func isBasicText(_ text: String, _ name: String) -> Bool {
        let isPrintable = text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
        guard text.utf8.count <= 4096, isPrintable else {
            diagnostics.error(
                node(of: name),
                "\(origin(of: name)) must be up to 4096 bytes without control characters (RFC 7617, section 2)")
            return false
        }
        return true
    }

    private func node(of name: String) -> Node? { section.value(name) ?? section.value("\(name)_file") }

    private func origin(of name: String) -> String {
        section.value(name) != nil ? section.path(name) : "the file of \(section.path("\(name)_file"))"
    }
}
