package import YAMLReading

/// The moment from which a changed value of a key is in effect in a running worker.
public enum KeyChange: String, Sendable, CaseIterable {
    /// A change applies from the next batch on: the worker reads the file again, and no event waits for it.
    case reloads
    /// A change applies from the next start on. This is the default of a key.
    case needsRestart = "needs_restart"
    /// A change applies to a gateway from the next call on, when it reads the file again. A worker ignores it.
    case reloadsInGateway = "reloads_in_gateway"
    /// A change never applies to a worker, which ignores the key.
    case passedOver = "passed_over"
}

/// The description of a key of the configuration. The reader, the messages of `remint check` and `config/remint.yaml` all
/// use the description.
public struct KeyDescription: DeclaredMember, Sendable {
    /// The key's name within its section.
    public let name: String
    /// The form of its value.
    public let form: ValueForm
    /// The key's default, as the file would write it; nil if it has none.
    public let standard: String?
    /// The key's meaning, in sentences.
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

    /// The same key, which a worker ignores.
    var passedOver: KeyDescription { changing(.passedOver) }

    /// Returns the same key, whose changes apply as `change` states.
    fileprivate func changing(_ change: KeyChange) -> KeyDescription {
        var key = self
        key.change = change
        return key
    }
}

/// A section of the configuration: its keys and the sections in it.
public struct SectionDescription: DeclaredMember, Sendable {
    /// The meaning of an absent section.
    public enum Absence: Sendable {
        /// The configuration is refused.
        case refused
        /// The defaults of the section's keys apply.
        case defaults
        /// The thing that the section describes does not exist.
        case nothing
    }

    /// The section's name; `*` for a section with a name of the user's choice.
    public let name: String
    /// The section's purpose, in sentences; empty if its keys explain it.
    public let summary: String
    /// The section's keys, in the order of the documentation.
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

    /// The same section, whose changes a running gateway takes over.
    var reloadingInGateway: SectionDescription {
        SectionDescription(
            name, summary, keys: keys.map { $0.changing(.reloadsInGateway) },
            sections: sections.map(\.reloadingInGateway),
            isRare: isRare, sampleMember: sampleMember, ifAbsent: absence)
    }

    /// The section of each member, for a section whose names are the user's.
    var each: SectionDescription? { sections.first.flatMap { $0.name == "*" ? $0 : nil } }

    /// The moment from which an added or removed section is in effect.
    var change: KeyChange { keys.first?.change ?? sections.first?.change ?? .needsRestart }
}
