/// The moment from which a changed value of a key is in effect in a running worker.
public enum KeyChange: String, Sendable, CaseIterable {
    /// From the next batch on: the file is read again, and no event waits for it.
    case reloads
    /// From the next start on. This is the default of a key.
    case needsRestart = "needs_restart"
    /// For a gateway from the next call on: it reads the file again. A worker passes it over.
    case reloadsInGateway = "reloads_in_gateway"
    /// Never: a worker passes it over.
    case passedOver = "passed_over"
}

/// A key of the configuration: everything that is said of it, once. The reader, the messages of `remint check` and
/// `config/remint.yaml` all go by it.
public struct KeyDescription: Sendable {
    /// Its name within its section.
    public let name: String
    /// The form of its value.
    public let form: ValueForm
    /// Its default, as the file would write it; nil if it has none.
    public let standard: String?
    /// Its meaning, in sentences.
    public let summary: String
    /// The value that a sample shows for a key without a default.
    public let example: String?
    /// Whether its section cannot do without it.
    public let isRequired: Bool
    /// Whether its value must not be shown.
    public let isSecret: Bool
    /// The moment from which a changed value is in effect.
    public private(set) var change: KeyChange

    init(
        _ name: String, _ form: ValueForm, standard: String? = nil, example: String? = nil,
        isRequired: Bool = false, isSecret: Bool = false, change: KeyChange = .needsRestart, _ summary: String
    ) {
        self.name = name
        self.form = form
        self.standard = standard
        self.summary = summary
        self.example = example
        self.isRequired = isRequired
        self.isSecret = isSecret
        self.change = change
    }

    /// The same key, of which a worker reads nothing.
    var passedOver: KeyDescription { changing(.passedOver) }

    /// The same key, whose changed values hold as `change` says.
    fileprivate func changing(_ change: KeyChange) -> KeyDescription {
        var key = self
        key.change = change
        return key
    }
}

/// A section of the configuration: its keys and the sections in it.
public struct SectionDescription: Sendable {
    /// The meaning of an absent section.
    public enum Absence: Sendable {
        /// The configuration is refused.
        case refused
        /// Its keys' defaults hold.
        case defaults
        /// There is none of what it describes.
        case nothing
    }

    /// Its name; `*` for one whose name is the user's.
    public let name: String
    /// Its purpose, in sentences; empty if its keys explain it.
    public let summary: String
    /// Its keys, in the order of the documentation.
    public let keys: [KeyDescription]
    /// The sections in it.
    public let sections: [SectionDescription]
    /// Whether a sample shows it as a comment, for most do without it.
    public let isRare: Bool
    /// The meaning of its absence.
    public let absence: Absence
    /// The name of the member that a sample shows, for a section whose names are the user's; nil shows a comment.
    let sampleMember: String?

    init(
        _ name: String, _ summary: String, keys: [KeyDescription] = [], sections: [SectionDescription] = [],
        isRare: Bool = false, sampleMember: String? = nil, ifAbsent absence: Absence = .defaults
    ) {
        self.isRare = isRare
        self.sampleMember = sampleMember
        self.absence = absence
        self.name = name
        self.summary = summary
        self.keys = keys
        self.sections = sections
    }

    /// The same section, of which a running gateway takes changes of `names` over: keys, and sections as a whole.
    func reloadingInGateway(_ names: Set<String>) -> SectionDescription {
        SectionDescription(
            name, summary, keys: keys.map { names.contains($0.name) ? $0.changing(.reloadsInGateway) : $0 },
            sections: sections.map { names.contains($0.name) ? $0.reloadingInGateway : $0 }, isRare: isRare,
            sampleMember: sampleMember, ifAbsent: absence)
    }

    private var reloadingInGateway: SectionDescription {
        reloadingInGateway(Set(keys.map(\.name) + sections.map(\.name)))
    }

    /// The moment from which an added or removed section is in effect.
    var change: KeyChange { keys.first?.change ?? sections.first?.change ?? .needsRestart }
}
