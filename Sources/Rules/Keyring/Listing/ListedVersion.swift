public import JOSE

/// A version as `keyring.json` lists it, without the key itself.
public struct ListedVersion: Sendable, Equatable {
    /// The version's id, unique in its ring; `key_id` of the tokens it signs.
    public let id: String
    /// `kid` where it is not the id: some vendors keep one over several secrets.
    public let keyID: String?
    /// The permitted use of the version.
    public internal(set) var state: KeyVersion.State
    /// The only algorithm it is for.
    public let algorithm: Algorithm
    /// The key's file, beside the listing or absolute; empty where a version of no further use names none.
    public let file: String
    /// The encoding of the file of a shared secret; nil for a key pair.
    public let encoding: SecretEncoding?
    /// The file with the passphrase of an encrypted PEM.
    public let passphraseFile: String?
    /// The time when the version was added to the ring.
    public let created: UnixTime?
    /// The time when it last became active.
    public internal(set) var activated: UnixTime?
    /// The moment no token of it may outlive.
    public let retireAfter: UnixTime?

    /// A version that is prepared.
    public init(
        id: String, keyID: String? = nil, algorithm: Algorithm, file: String, encoding: SecretEncoding? = nil,
        created: UnixTime, retireAfter: UnixTime? = nil
    ) {
        self.init(
            id: id, keyID: keyID, state: .prepared, algorithm: algorithm, file: file, encoding: encoding,
            passphraseFile: nil, created: created, activated: nil, retireAfter: retireAfter)
    }

    init(
        id: String, keyID: String?, state: KeyVersion.State, algorithm: Algorithm, file: String,
        encoding: SecretEncoding?, passphraseFile: String?, created: UnixTime?, activated: UnixTime?,
        retireAfter: UnixTime?
    ) {
        self.id = id
        self.keyID = keyID
        self.state = state
        self.algorithm = algorithm
        self.file = file
        self.encoding = encoding
        self.passphraseFile = passphraseFile
        self.created = created
        self.activated = activated
        self.retireAfter = retireAfter
    }

    /// `kid` of the tokens it signs.
    var kid: String { keyID ?? id }

    /// Returns whether the tokens of both name one key pair. Vendors keep one `kid` over several shared secrets and try
    /// each.
    func sharesKid(with other: ListedVersion) -> Bool {
        kid == other.kid && id != other.id && (algorithm.keyType != .secret || other.algorithm.keyType != .secret)
    }

    func write(to json: inout JSONWriter) {
        json.beginObject()
        json.member("id", id)
        if let keyID { json.member("kid", keyID) }
        json.member("state", state.rawValue)
        json.member("algorithm", algorithm.rawValue)
        if !file.isEmpty { json.member("file", file) }
        if let encoding { json.member("encoding", encoding.rawValue) }
        if let passphraseFile { json.member("passphrase_file", passphraseFile) }
        if let created { json.member("created", created.description) }
        if let activated { json.member("activated", activated.description) }
        if let retireAfter { json.member("retire_after", retireAfter.description) }
        json.endObject()
    }
}
