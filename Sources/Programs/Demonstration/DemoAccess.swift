import Access
import AdapterKit
import Foundation
import JOSE

/// The credentials that the demonstration's devices show a gateway. They are sessions of a login of their own, and a
/// backend's API key for users with several ids, which a session does not name.
struct DemoAccess: Sendable {
    private let login: SampleLogin
    private let apiKey: APIKey.Generated

    /// Makes keys, and writes the login's public one into `folder`.
    init(folder: URL) throws {
        login = try SampleLogin()
        apiKey = try APIKey.generate(random: SecretBytes.random(count:))
        try login.keySet.write(to: folder.appending(path: "sessions.json"))
    }

    /// Returns the gateway's section of a configuration in the same folder, whose `apps` all sessions open.
    func yaml(apps: [String]) -> String {
        """
        pickup:
          listen: 127.0.0.1:0
          user_rate: 100000
          caller_rate: 100000
          address_rate: 100000
          refused_rate: 100000
          total_rate: 100000
          session: { issuer: \(SampleLogin.issuer), jwks: sessions.json }
          apps: { \(apps.map { "\($0): { issuer: \(SampleLogin.issuer) }" }.joined(separator: ", ")) }
          api_keys: { backend: { hash: \(apiKey.hash) } }

        """
    }

    /// Returns the headers that identify the device of `event`.
    func headers(for event: DemoEvent, at now: UnixTime) throws -> [(String, String)] {
        // A session names a user and no further members.
        if let vouched = event.vouched { return backend(vouchingFor: vouched) }
        switch event.user ?? .somebody {
        case .user(let user): return [("authorization", "Bearer \(try login.session(of: user, at: now))")]
        case .identifiers(let ids): return backend(vouchingFor: Self.members(ids))
        }
    }

    private func backend(vouchingFor members: [UInt8]) -> [(String, String)] {
        [
            ("x-api-key", apiKey.text.withBytes { String(decoding: $0, as: UTF8.self) }),
            ("remint-vouched", String(decoding: members, as: UTF8.self)),
        ]
    }

    private static func members(_ ids: [(name: String, value: String)]) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.name("ids")
        json.beginObject()
        for id in ids { json.member(id.name, id.value) }
        json.endObject()
        json.endObject()
        return json.bytes
    }
}
