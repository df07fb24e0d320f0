import AdapterKit
import Foundation

/// The user of the device that reports.
enum DemoUser: Sendable {
    /// A user with one id, named by a session.
    case user(String)
    /// A user with several ids, named by a backend.
    case identifiers([(name: String, value: String)])

    /// The user of devices whose reports name nobody.
    static let somebody = DemoUser.user("u-1001")

    /// Reads the user that a batch job names: a string, or an object with the ids.
    init?(reissue: [UInt8]) {
        guard let root = try? JSONDocument(parsing: reissue).root else { return nil }
        if let user = root.string {
            self = .user(user)
        } else {
            self = .identifiers(root.members.compactMap { name, value in value.string.map { (name, $0) } })
        }
    }

    /// The user of a subject key such as `app/u-1001` or `app/registered=u%40example.com`, as recordings have it: an equals sign
    /// that is not encoded is one between an id's name and its value.
    init(subjectKey: String) {
        let parts = subjectKey.split(separator: "/").dropFirst()
        let identifiers = parts.compactMap { part -> (name: String, value: String)? in
            let pair = part.split(separator: "=", maxSplits: 1).compactMap { String($0).removingPercentEncoding }
            return pair.count == 2 ? (pair[0], pair[1]) : nil
        }
        guard identifiers.isEmpty else {
            self = .identifiers(identifiers)
            return
        }
        self = parts.first.flatMap { String($0).removingPercentEncoding }.map { .user($0) } ?? Self.somebody
    }
}
