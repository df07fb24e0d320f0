package import Yams

/// A member of a file that is declared once, under its name. A reader names a member by its declaration, never by a
/// string of its own.
package protocol DeclaredMember: Sendable {
    /// The member's name within its section.
    var name: String { get }
}

extension Section {
    /// Returns the value of `member`; nil where it is absent or null.
    package func value(of member: any DeclaredMember) -> Node? { value(member.name) }

    /// Returns the name of `member` as the file has it.
    package func key(of member: any DeclaredMember) -> Node? { key(member.name) }

    /// Returns the full name of `member`, for messages.
    package func path(of member: any DeclaredMember) -> String { path(member.name) }

    /// Returns the section that `member` is.
    package func section(_ member: any DeclaredMember) -> Section { section(member.name) }
}
