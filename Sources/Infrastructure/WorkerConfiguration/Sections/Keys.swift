package import AdapterKit
import Glibc
import YAMLReading
import Yams

extension Configuration {
    /// A key ring.
    public struct Key: Sendable {
        package var name: String
        /// The ring's folder; nil for a ring that a signer holds.
        package var path: String?
        /// The socket of the signer that holds it; nil for a ring that is read from its folder.
        package var signer: String?
        package var place: FileLocation
        package var policy = SigningPolicy()
    }

    /// The limits on a signer's signatures with a ring: it signs tokens of these terms and nothing else. `remint
    /// signer` enforces them.
    public struct SigningPolicy: Sendable, Equatable, WithDefaults {
        /// The longest life that a policy may allow, and its default. It is more than a year, which is longer than any
        /// vendor accepts. It is short enough that a stolen token expires.
        package static let longest = Duration.seconds(400 * 86_400)

        /// The algorithms that are signed with; nil for whatever the ring's keys are for. A key signs with its own in any case.
        package var algorithms: Set<Algorithm>?
        /// The longest time from now to `exp`, 1 s to 400 days.
        package var longestLife = longest
        /// The required value of `iss`; nil to accept any.
        package var issuer: String?

        package init() {}
    }
}

extension Configuration.Key {
    static let section = SectionDescription(
        "keys",
        """
        Key rings, each under its name. A ring is a folder with keyring.json and the key files, mode 600. Instead of a \
        folder, a signer can hold the ring: a process under another account (remint signer --config FILE --socket \
        PATH).
        """,
        sections: [
            SectionDescription(
                "*", "", keys: [pathKey.description, signerKey.description],
                sections: [Configuration.SigningPolicy.section])
        ], ifAbsent: .refused)

    static func fullName(of name: String) -> String { "\(section.name).\(name)" }

    static let pathKey = FileKey(
        "path", .path, example: "keys/shop-braze", change: .reloads, "Folder of the ring."
    ) { section, name in
        section.requiredText(
            name, example: "keys/shop-braze, or name a signer's socket with \(section.path(of: signerKey))")?.text
    }
    static let signerKey = FileKey.text(
        "signer", form: .path, example: "/run/remint/signer.sock",
        "Socket of the signer that holds the ring, instead of path.")

    // MARK: Reading

    static func read(_ section: Section) -> [Configuration.Key] {
        let keys = section.all.compactMap { place, name, value -> Configuration.Key? in
            checkName(name, place, section.diagnostics)
            let key = Section(value, at: place, name: section.path(name), section.diagnostics)
            defer { key.finish() }
            let signer = key.placed(signerKey)
            guard signer != nil || key.value(of: signerKey) == nil else { return nil }
            if let (_, node) = signer, key.value(of: pathKey) != nil {
                section.diagnostics.error(
                    node,
                    "\(key.name) has both path and signer; a ring is read from its folder or held by a signer: remove one of them"
                )
            }
            var policy = Configuration.SigningPolicy()
            key.readSection(into: &policy)
            if let (_, node) = signer, key.value(of: Configuration.SigningPolicy.section) != nil {
                section.diagnostics.error(
                    node, "\(key.name) has both policy and signer; the signer keeps it: write it into its configuration"
                )
            }
            guard let (path, node) = signer ?? key.placed(pathKey),
                !section.diagnostics.isRefused(node)
            else { return nil }
            let resolved = section.diagnostics.resolve(path)
            return Configuration.Key(
                name: name, path: signer == nil ? resolved : nil, signer: signer == nil ? nil : resolved,
                place: section.diagnostics.place(of: node), policy: policy)
        }
        RingFolders.refuseSharedOnes(keys, section.diagnostics)
        return keys
    }

    /// Refuses a name that cannot be printed, and warns about one that a command line or a metric must quote. Records and the ledger
    /// repeat a ring's name, so such a ring goes on under it.
    private static func checkName(_ name: String, _ place: Node, _ diagnostics: Diagnostics) {
        guard let flaw = PlainName.flaw(of: name) else { return }
        let quoted = PlainName.quote(name)
        guard !name.isEmpty, name.utf8.count <= PlainName.longest, !PlainName.hasControls(name) else {
            diagnostics.error(
                place,
                "\(quoted) cannot be a key ring's name: it \(flaw); rename it here and in apps.*.key (\(PlainName.rule))"
            )
            return
        }
        diagnostics.warning(
            place,
            "\(quoted) is an unsafe name for a key ring: it \(flaw); give a new ring another name (\(PlainName.rule))")
    }
}

extension Configuration.SigningPolicy: DeclaredSection {
    static let section = SectionDescription(
        "policy",
        """
        Limits on the tokens that remint signer signs with the ring. Write this section into the signer's \
        configuration, in addition to path. In a worker's configuration, a ring with signer must not have this \
        section.
        """, keys: settings.map(\.description), isRare: true)

    static let settings: [Setting<Self>] = [
        Setting(algorithmsKey, ifPresent: \.algorithms),
        .duration("longest_life", \.longestLife, in: .seconds(1)...longest, "Longest time from now to a token's exp."),
        .text("issuer", ifPresent: \.issuer, example: "shop", "Required value of a token's iss. Default: any value."),
    ]

    private static let algorithmsKey = FileKey(
        "algorithms", .list(of: .choice(Algorithm.allCases.flatMap(\.names)), count: 1...Int.max), example: "[RS256]",
        "Algorithms that the signer may sign with. Default: the algorithms of the ring's keys.",
        readAlgorithms)

    /// Returns the algorithms in the key `name` of `section`; nil where it is absent or wrong.
    private static func readAlgorithms(_ section: Section, _ name: String) -> Set<Algorithm>? {
        guard let node = section.value(name) else { return nil }
        guard let names = node.sequence, !names.isEmpty else {
            section.diagnostics.error(node, "\(section.path(name)) must be a list such as [ES256]")
            return nil
        }
        var algorithms: Set<Algorithm> = []
        for each in names {
            guard let algorithm = each.string.flatMap(Algorithm.init(named:)) else {
                let known = Algorithm.allCases.flatMap(\.names).joined(separator: ", ")
                section.diagnostics.error(each, "\(section.path(name)) knows \(known)")
                return nil
            }
            algorithms.insert(algorithm)
        }
        return algorithms
    }
}

/// The folders of the key rings. Each token's record names its ring. Two names of one folder would hide from each other
/// which tokens its keys signed, so a folder is one ring.
private enum RingFolders {
    /// Refuses a ring whose folder another one has, under whatever path.
    static func refuseSharedOnes(_ keys: [Configuration.Key], _ diagnostics: Diagnostics) {
        var seen: [(key: Configuration.Key, place: Place)] = []
        for key in keys {
            guard let path = key.path else { continue }
            let place = Place(of: path)
            if let other = seen.first(where: { $0.place.isSame(as: place) })?.key {
                diagnostics.error(
                    at: key.place,
                    "keys.\(key.name) has the folder of keys.\(other.name): a ring has one name, which its tokens' records repeat; remove keys.\(key.name) and write key: \(other.name) in its apps, or give it a folder of its own"
                )
            } else {
                seen.append((key, place))
            }
        }
    }

    private struct Place {
        /// The path without links, dots and repeated slashes, as far as the folders are there.
        private let path: String
        /// The device and the inode; nil where there is no folder yet.
        private let file: (device: UInt64, inode: UInt64)?

        init(of path: String) {
            var status = stat()
            file = stat(path, &status) == 0 ? (UInt64(status.st_dev), UInt64(status.st_ino)) : nil
            self.path = Self.resolved(path)
        }

        func isSame(as other: Place) -> Bool {
            if path.hasSameBytes(as: other.path) { return true }
            guard let file, let its = other.file else { return false }
            return file == its
        }

        /// Returns `path` with its existing part resolved, and the rest as it is written.
        private static func resolved(_ path: String) -> String {
            var rest: [Substring] = []
            var head = path.split(separator: "/", omittingEmptySubsequences: true)
            let root = path.hasPrefix("/") ? "/" : "./"
            while true {
                if let found = realpath(root + head.joined(separator: "/"), nil) {
                    defer { free(found) }
                    var parts = String(cString: found).split(separator: "/", omittingEmptySubsequences: true)
                    for part in rest.reversed() where part != "." {
                        if part == ".." { _ = parts.popLast() } else { parts.append(part) }
                    }
                    return "/" + parts.joined(separator: "/")
                }
                guard let last = head.popLast() else { return path }
                rest.append(last)
            }
        }
    }
}
