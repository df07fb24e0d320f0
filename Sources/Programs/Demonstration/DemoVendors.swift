package import AdapterKit
import AdapterTestKit
package import Foundation
package import JOSE
import Keyring
import StubServer
import Vendors

/// The vendors' REST APIs for a demonstration, each on a port of this machine, for the apps' look-ups.
package struct DemoVendors {
    /// A user the vendors have deleted, as far as they can.
    package static let gone = "demo-deleted"
    /// A user the vendors have not met.
    package static let unknown = "demo-newcomer"

    private struct Vendor {
        let app: DemoWorkspace.App
        let adapter: any StubbedAdapter
        let setting: StubSetting
        let server: StubServer
        let yaml: String
    }

    private var vendors: [Vendor] = []

    /// Starts a server for every app whose vendor can be asked.
    ///
    /// - Parameters:
    ///   - keys: the public keys of each app, as its vendor has them.
    ///   - folder: the folder for secrets, in files that nobody else can read.
    package init(
        _ apps: [DemoWorkspace.App], keys: [String: VerificationKey], folder: URL,
        now: @escaping @Sendable () -> UnixTime
    ) async throws {
        for app in apps {
            let any = try JSONDecoder.adapter(app.registration, settings: app.example.settings)
            guard let adapter = any as? any StubbedAdapter, let terms = adapter.lookupTerms else { continue }
            let (authorization, credentials) = try Self.credentials(for: app, terms, in: folder)
            let setting = StubSetting(
                authorization: authorization, keys: keys[app.name].map { [$0] } ?? [], gone: [Self.gone],
                unknown: [Self.unknown])
            guard let stub = adapter.stub(setting) else { continue }
            let server = try await StubServer.start(stub, now: now)
            let mode: LookupMode = terms.enriches ? .enrich : .verify
            vendors.append(
                Vendor(
                    app: app, adapter: adapter, setting: setting, server: server,
                    yaml: "{ mode: \(mode.rawValue), endpoint: \"\(server.url)\"\(credentials) }"))
        }
    }

    /// Returns the value of `lookup` for `app`, as YAML; nil where the app has no look-up.
    package func yaml(of app: DemoWorkspace.App) -> String? { vendors.first { $0.app.name == app.name }?.yaml }

    /// The number of requests that each app's vendor got.
    package var requests: [(app: String, count: Int)] { vendors.map { ($0.app.name, $0.server.traffic.requests) } }

    /// Returns events about users who are deleted or unknown, for the vendors that report it, with the expected
    /// outcomes.
    package func events(at now: UnixTime) -> [DemoEvent] {
        vendors.flatMap { vendor in
            [Self.gone, Self.unknown].compactMap { user in
                guard let ending = ending(of: user, vendor, at: now) else { return nil }
                return DemoEvent.reissue(of: user, app: vendor.app, ending: ending)
            }
        }
    }

    /// Returns the outcome that an event of `user` must have, by the answer of a copy of the vendor. It is nil where
    /// the vendor's users have no single id, or its tokens answer a challenge.
    private func ending(of user: String, _ vendor: Vendor, at now: UnixTime) -> String? {
        guard let document = try? JSONDocument(parsing: Array("\"\(user)\"".utf8)),
            let subject = try? vendor.adapter.user(reissuing: document.root), subject.user != nil,
            vendor.setting.authorization != nil, var stub = vendor.adapter.stub(vendor.setting),
            case .requests(let requests) = vendor.adapter.lookup(for: [subject], mode: .verify), requests.count == 1
        else { return nil }
        let request = StubRequest(requests[0], authorization: vendor.setting.authorization)
        let response = LookupResponse(stub.answer(request, at: now))
        switch vendor.adapter.verdicts(from: response, for: [subject]).first {
        case .gone: return ErrorCode.userGone.rawValue
        case .unknown where vendor.adapter.lookupTerms?.unknownUser == .reject: return ErrorCode.userGone.rawValue
        case .exists, .unknown: return "minted"
        case .unanswered, nil: return nil
        }
    }

    package func stop() async {
        for vendor in vendors { await vendor.server.stop() }
    }

    /// Returns a secret of the kind that the vendor hands out, in the forms of its server and of the configuration.
    private static func credentials(
        for app: DemoWorkspace.App, _ terms: LookupTerms, in folder: URL
    ) throws -> (authorization: String?, yaml: String) {
        let secret = UUID().uuidString.lowercased()
        let file = "lookups/\(app.name).secret"
        let path = folder.appending(path: file)
        try FileManager.default.createDirectory(
            at: path.deletingLastPathComponent(), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        switch terms.authorization {
        case .mintedToken: return (nil, "")
        case .key(let scheme):
            try write(secret, to: path)
            return ("\(scheme) \(secret)", ", key_file: \(file)")
        case .basic:
            try write(secret, to: path)
            let pair = Data("demo:\(secret)".utf8).base64EncodedString()
            return ("Basic \(pair)", ", username: demo, password_file: \(file)")
        }
    }

    private static func write(_ secret: String, to path: URL) throws {
        guard
            FileManager.default.createFile(
                atPath: path.path, contents: Data(secret.utf8), attributes: [.posixPermissions: 0o600])
        else { throw DemoError("cannot write \(path.path)") }
    }
}
