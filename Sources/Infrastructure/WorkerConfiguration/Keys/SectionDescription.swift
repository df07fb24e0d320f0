package import YAMLReading

/// A section of the configuration: its keys and the sections in it.
package struct SectionDescription: DeclaredMember, Sendable {
    /// The meaning of an absent section.
    package enum Absence: Sendable {
        case refused
        /// The defaults of the section's keys apply.
        case defaults
        /// The thing that the section describes does not exist.
        case nothing
    }

    /// The section's name; `*` for a section with a name of the user's choice.
    package let name: String
    /// The section's purpose, in sentences; empty if its keys explain it.
    package let summary: String
    /// The section's keys, in the order of the documentation.
    package let keys: [KeyDescription]
    package let sections: [SectionDescription]
    /// Whether a sample shows it as a comment, for most do without it.
    package let isRare: Bool
    package let absence: Absence
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

    var each: SectionDescription? { sections.first.flatMap { $0.name == "*" ? $0 : nil } }

    /// The moment from which an added or removed section is in effect.
    var change: KeyChange { keys.first?.change ?? sections.first?.change ?? .needsRestart }
}
