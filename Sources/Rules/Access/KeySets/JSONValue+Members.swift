import JOSE

extension JSONValue {
    /// Whether the object names a member twice. Two readers may disagree on which one counts (RFC 7517, section 4).
    var namesMemberTwice: Bool {
        var seen: Set<[UInt8]> = []
        return members.contains { !seen.insert(Array($0.name.utf8)).inserted }
    }
}
