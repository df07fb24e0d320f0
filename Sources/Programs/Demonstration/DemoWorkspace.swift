package import AdapterKit
import AdapterTestKit
package import Foundation
package import JOSE
import Keyring
import Vendors

/// A folder with a worker's generated files: `remint.yaml`, a key ring per app, and the public keys, for verification
/// of the tokens with another library.
package struct DemoWorkspace {
    /// An example app of one adapter.
    package struct App {
        package let name: String
        package let registration: AdapterRegistry.Registration
        let fixtures: AdapterFixtures
        let example: AdapterFixtures.App
    }

    package let folder: URL
    package let apps: [App]
    /// The public half of each app's key, as its vendor has it.
    package let keys: [String: VerificationKey]
    private let isTemporary: Bool

    /// Generates the folder.
    ///
    /// - Parameter path: the folder's path; nil for a temporary folder that `remove` deletes.
    package init(path: String?, at now: UnixTime) throws {
        isTemporary = path == nil
        folder =
            path.map { URL(filePath: $0) }
            ?? FileManager.default.temporaryDirectory.appending(path: "remint-demo-\(UUID().uuidString)")
        apps = try AdapterRegistry.remint.registrations.flatMap { registration in
            guard let fixtures = try RecordedReports.demonstrated(of: registration) else { return [App]() }
            return fixtures.apps.map { example in
                App(
                    name: "\(registration.name)-\(example.name)", registration: registration, fixtures: fixtures,
                    example: example)
            }
        }
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let folder = folder
        let published = try apps.map { (name: $0.name, key: try Self.generateKey(for: $0, in: folder, at: now)) }
        keys = Dictionary(published.map { ($0.name, $0.key) }) { first, _ in first }
        try Data(JWK.setJSON(of: published.map(\.key))).write(to: folder.appending(path: "public/jwks.json"))
        try configure(asking: nil)
    }

    /// Writes the configuration, with look-ups where there are vendors to ask.
    package func configure(asking vendors: DemoVendors?) throws {
        try Data(yaml(asking: vendors).utf8).write(to: configurationFile)
    }

    /// Adds a gateway to the configuration.
    ///
    /// - Returns: the credentials that devices show the gateway.
    func addGateway() throws -> DemoAccess {
        let access = try DemoAccess(folder: folder)
        let text = try String(contentsOf: configurationFile, encoding: .utf8)
        try Data((text + access.yaml(apps: apps.map(\.name))).utf8).write(to: configurationFile)
        return access
    }

    package var configurationFile: URL { folder.appending(path: "remint.yaml") }

    /// Removes a temporary folder.
    package func remove() {
        if isTemporary { try? FileManager.default.removeItem(at: folder) }
    }

    /// Generates a key for `app`, in the form that its vendor hands out, and writes its public half where there is one.
    private static func generateKey(for app: App, in folder: URL, at now: UnixTime) throws -> VerificationKey {
        let adapter = try JSONDecoder.adapter(app.registration, settings: app.example.settings)
        let id = "\(app.name)-2026-11"
        let ring = folder.appending(path: "keys/\(app.name)")
        for path in [ring, folder.appending(path: "public")] {
            try FileManager.default.createDirectory(
                at: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        let key = try KeyGeneration.key(
            adapter.algorithm, encoding: adapter.secretEncoding, rsaBits: 2048, id: id)
        try KeyRingDirectory(path: ring.path).create(
            key, id: id, secretEncoding: adapter.secretEncoding, at: now)
        if let pem = try key.verificationKey.publicKeyPEM() {
            try Data(pem.utf8).write(to: folder.appending(path: "public/\(app.name).pem"))
        }
        return key.verificationKey
    }

    private func yaml(asking vendors: DemoVendors?) -> String {
        // The reports of all SDKs name the same few users; each is to be answered by itself.
        var text = "kafka:\n  bootstrap_servers: embedded\nworker:\n  admission: { subjects: 0 }\n"
        // Events that wait for a vendor's answer must not wait long in a demonstration.
        if vendors != nil { text += "  retries: { tiers: [1s, 5s, 10s] }\n" }
        text += "log:\n  level: info\n  format: text\nkeys:\n"
        for app in apps { text += "  \(app.name): { path: keys/\(app.name) }\n" }
        text += "# The recorded reports come without an edge that names their users. Yours does: identity: vouched\n"
        text += "apps:\n"
        for app in apps {
            text += "  \(app.name):\n    adapter: \(app.registration.name)\n    key: \(app.name)\n"
            text += "    identity: reported\n"
            text += "    settings: \(String(decoding: app.example.settings, as: UTF8.self))\n"
            if let lookup = vendors?.yaml(of: app) { text += "    lookup: \(lookup)\n" }
        }
        return text
    }
}

/// The reason that the demonstration failed.
package struct DemoError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
