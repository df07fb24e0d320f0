package import Yams

/// A member of a file that is declared once, under its name. A reader names a member by its declaration, never by a
/// string of its own.
package protocol DeclaredMember: Sendable {
    /// The member's name within its section.
    var name: String { get }
    /// The keys of the section that the member is, each with its meaning; nil where it is no section, or where its reader
    /// names the keys one by one.
    var sectionKeys: [(name: String, isRequired: Bool, summary: String)]? { get }
}

extension DeclaredMember {
    package var sectionKeys: [(name: String, isRequired: Bool, summary: String)]? { nil }
}

extension Section {
    /// Returns the value of `member`; nil where it is absent or null.
    package func value(of member: any DeclaredMember) -> Node? { value(member.name) }

    /// Returns the name of `member` as the file has it.
    package func key(of member: any DeclaredMember) -> Node? { key(member.name) }

    /// Returns the full name of `member`, for messages.
    package func path(of member: any DeclaredMember) -> String { path(member.name) }

    /// Returns the section that `member` is, with its keys declared.
    package func section(_ member: any DeclaredMember) -> Section {
        let section = section(member.name)
        if let keys = member.sectionKeys { section.declare(keys) }
        return section
    }
}
