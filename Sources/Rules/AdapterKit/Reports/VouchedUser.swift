/// The user that the edge has authenticated, and the further members that it vouches for.
///
/// A report is a device's text and may hold anything; the members that the edge writes beside it are trusted. Where the
/// two name different users there is no token.
public struct VouchedUser: Sendable, Equatable {
    /// The user, without a challenge.
    public let subject: Subject
    /// The other members that the user's tokens may hold, such as OneSignal's `subscriptions`.
    public let grants: Enrichment

    /// The names of the members that the vendor's tokens need and that the edge does not vouch for.
    public let missing: [String]

    /// The user `subject`, with `grants` and without the members `missing`.
    public init(_ subject: Subject, grants: Enrichment = Enrichment(), missing: [String] = []) {
        self.subject = subject.withoutChallenge
        self.grants = grants
        self.missing = missing
    }

    /// Returns the one member `name` of `members`, an id.
    ///
    /// - Throws: `Rejection` with `.malformedEvent` for anything but an object with that member, a string that is not
    ///   empty, and the members named `others`.
    public static func id(
        _ name: String, in members: JSONValue, besides others: Set<String> = []
    ) throws(Rejection) -> String {
        try requireObject(members, of: others.union([name]))
        guard let id = members[name]?.string, !id.isEmpty else {
            throw Rejection(.malformedEvent, "\"vouched.\(name)\" must be a string, exactly the id the SDK uses")
        }
        return id
    }

    /// Refuses unknown members: one may be misspelled, and a voucher must be understood as a whole.
    public static func requireObject(_ members: JSONValue, of known: Set<String>) throws(Rejection) {
        guard members.isObject else { throw Rejection(.malformedEvent, "\"vouched\" is not an object") }
        guard members.members.allSatisfy({ known.contains($0.name) }) else {
            throw Rejection(
                .malformedEvent, "\"vouched\" has other members than \(known.sorted().joined(separator: ", "))")
        }
    }
}
