public import JOSE

/// The contents of `keyring.json`, as a value: the versions and the transitions between their states.
///
/// ```
/// prepared ─► active ◄─► passive ─► retired        any ─► revoked
///    └───────────────────────────────►┘
/// ```
/// At most one version is active. A ring has none only after a revocation: then nothing is signed and its events wait.
public struct KeyRingListing: Sendable, Equatable {
    /// The file, which errors name.
    let file: String
    /// The versions in the order of the file.
    public private(set) var versions: [ListedVersion]
    /// The names in the ring's folder, which a new version passes over.
    var neighbors: Set<String> = []
    /// The ids of removed versions. No new version has one of them: tokens and the audit log may still name it.
    var formerIDs: Set<String> = []

    /// A ring without versions.
    public init(file: String) {
        self.file = file
        versions = []
    }

    init(file: String, versions: [ListedVersion]) {
        self.file = file
        self.versions = versions
    }

    /// The version that signs.
    public var active: ListedVersion? { versions.first { $0.state == .active } }

    /// Returns the version `id`.
    ///
    /// - Throws: `KeyRingError` that names the known ones.
    public func version(_ id: String) throws(KeyRingError) -> ListedVersion { versions[try index(of: id)] }

    /// Returns whether a version `id`, or a file that it would have, exists already.
    package func isTaken(_ id: String) -> Bool {
        versions.contains { $0.id == id } || formerIDs.contains(id)
            || [".pem", ".secret"].contains { isNamed(id + $0) }
    }

    /// Returns the first name for the file of a new version `id` that no version and no file has: `2026-11.pem`,
    /// `2026-11.2.pem`, ….
    func freshFile(_ id: String, _ suffix: String) -> String {
        var file = id + suffix
        var number = 2
        while isNamed(file) {
            file = "\(id).\(number)\(suffix)"
            number += 1
        }
        return file
    }

    private func isNamed(_ file: String) -> Bool {
        neighbors.contains(file) || versions.contains { $0.file == file || $0.file == "./\(file)" }
    }

    /// The text of the file.
    public var json: [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.name("versions")
        json.beginArray()
        for version in versions { version.write(to: &json) }
        json.endArray()
        json.endObject()
        return json.bytes + [UInt8(ascii: "\n")]
    }

    // MARK: Transitions

    /// Adds a version: prepared, or active where it is the ring's first.
    ///
    /// - Throws: `KeyRingError` for an id that is taken or breaks the rule for ids, and for a `kid` that no ring could be read with.
    public mutating func add(_ version: ListedVersion) throws(KeyRingError) {
        try requireNames(version)
        guard !versions.contains(where: { $0.id == version.id }) else {
            throw KeyRingError(file, "has a version \"\(version.id)\" already; choose another id")
        }
        guard !formerIDs.contains(version.id) else {
            throw KeyRingError(file, "had a version \"\(version.id)\", which was removed; choose another id")
        }
        var version = version
        if versions.isEmpty {
            version.state = .active
            version.activated = version.created
        }
        versions.append(version)
    }

    /// Refuses names that a new version may not have. Names on disk are not checked; see `oddIDs`.
    private func requireNames(_ version: ListedVersion) throws(KeyRingError) {
        if let flaw = Self.flaw(ofID: version.id) {
            throw KeyRingError(
                file,
                "\(PlainName.quote(version.id)) cannot be a version's id: it \(flaw); give another with --id, such as 2026-11, and with --kid the key's id at the vendor where that is another one (an id names the key's file: \(PlainName.rule))"
            )
        }
        if version.keyID?.isEmpty == true {
            throw KeyRingError(file, "the kid is empty; give --kid the key's id at the vendor, or leave it out")
        }
        if version.keyID?.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) == true {
            throw KeyRingError(file, "the kid has a control character; give --kid the key's id as the vendor shows it")
        }
        if let other = versions.first(where: { $0.sharesKid(with: version) }) {
            throw KeyRingError(
                file,
                "the version \"\(other.id)\" has the kid \(PlainName.quote(other.kid)) already, and a token's kid names one key; give another with --kid, or another id with --id"
            )
        }
    }

    /// The key pairs whose tokens name the kid of an earlier version of the ring, each with the earlier one. Such a ring works as
    /// it is, but a verifier may take the wrong key.
    package var repeatedKids: [(version: ListedVersion, earlier: ListedVersion)] {
        versions.indices.compactMap { index in
            let version = versions[index]
            return versions[..<index].first { $0.sharesKid(with: version) }.map { (version, $0) }
        }
    }

    /// The ids that no new version could have. Such a ring works as it is: earlier releases let them in.
    package var oddIDs: [String] { versions.map(\.id).filter { Self.flaw(ofID: $0) != nil } }

    /// Makes `id` the version that signs; the one before becomes passive.
    ///
    /// - Returns: whether anything changed; false where `id` is active already.
    /// - Throws: `KeyRingError` for a version that is unknown, expired, retired or revoked.
    @discardableResult
    public mutating func promote(_ id: String, at time: UnixTime) throws(KeyRingError) -> Bool {
        let index = try index(of: id)
        guard try isMove(index, to: .active) else { return false }
        try requireUnexpired(id, at: time)
        if let current = versions.firstIndex(where: { $0.state == .active }) { versions[current].state = .passive }
        versions[index].state = .active
        versions[index].activated = time
        return true
    }

    /// Refuses the version `id` where its `retire_after` is over: no token of it could be signed.
    ///
    /// - Throws: `KeyRingError`, also for a version that is unknown.
    package func requireUnexpired(_ id: String, at time: UnixTime) throws(KeyRingError) {
        guard let end = try version(id).retireAfter, end <= time else { return }
        throw KeyRingError(
            file,
            "the version \"\(id)\" cannot sign: its retire_after, \(end), is over; generate or import a new one")
    }

    /// Ends the use of `id`, whose tokens are refused from now on.
    ///
    /// - Returns: whether anything changed.
    /// - Throws: `KeyRingError` for a version that is unknown, active or revoked.
    @discardableResult
    public mutating func retire(_ id: String) throws(KeyRingError) -> Bool { try move(id, to: .retired) }

    /// Declares `id` leaked: it signs nothing more, and nothing it signed counts.
    ///
    /// - Returns: whether anything changed.
    /// - Throws: `KeyRingError` for a version that is unknown.
    @discardableResult
    public mutating func revoke(_ id: String) throws(KeyRingError) -> Bool { try move(id, to: .revoked) }

    /// Takes the version `id` out of the listing.
    ///
    /// - Throws: `KeyRingError` for a version that is unknown or in use, and for one without which no ring could be read.
    public mutating func remove(_ id: String) throws(KeyRingError) {
        let index = try index(of: id)
        let state = versions[index].state
        guard !state.verifies else {
            let (step, version) = state == .active ? ("promote", "ID") : ("retire", id)
            let first = RemintCommand("rotate \(step)", "--key-version", version)
            throw KeyRingError(
                file, "the version \"\(id)\" is \(state.rawValue) and cannot be removed; first: \(first)")
        }
        var rest = versions
        rest.remove(at: index)
        guard rest.contains(where: { $0.state == .active || $0.state == .revoked }) else {
            throw KeyRingError(
                file,
                "the version \"\(id)\" cannot be removed while no version signs; first: \(RemintCommand("rotate promote", "--key-version", "ID", "--now"))"
            )
        }
        versions = rest
    }

    private mutating func move(_ id: String, to state: KeyVersion.State) throws(KeyRingError) -> Bool {
        let index = try index(of: id)
        guard try isMove(index, to: state) else { return false }
        versions[index].state = state
        return true
    }

    private func isMove(_ index: Int, to state: KeyVersion.State) throws(KeyRingError) -> Bool {
        let version = versions[index]
        guard version.state != state else { return false }
        guard version.state.successors.contains(state) else {
            let remedy =
                switch (version.state, state) {
                case (.active, .retired):
                    "; promote another version first: \(RemintCommand("rotate promote", "--key-version", "ID"))"
                case (_, .active): "; generate or import a new one"
                default: ""
                }
            throw KeyRingError(
                file,
                "the version \"\(version.id)\" is \(version.state.rawValue) and cannot become \(state.rawValue)\(remedy)"
            )
        }
        return true
    }

    private func index(of id: String) throws(KeyRingError) -> Int {
        guard let index = versions.firstIndex(where: { $0.id == id }) else {
            let known = versions.map(\.id).joined(separator: ", ")
            throw KeyRingError(file, "has no version \(PlainName.quote(id)); it has: \(known.isEmpty ? "none" : known)")
        }
        return index
    }

    /// Returns the flaw of `id` as the id of a new version; nil if it has none.
    private static func flaw(ofID id: String) -> String? {
        id == "keyring" ? "is the name of the ring's own files" : PlainName.flaw(of: id)
    }
}

extension KeyVersion.State {
    /// The states a version may go to from this one.
    public var successors: Set<Self> {
        switch self {
        case .prepared: [.active, .retired, .revoked]
        case .active: [.passive, .revoked]
        case .passive: [.active, .retired, .revoked]
        case .retired: [.revoked]
        case .revoked: []
        }
    }
}
