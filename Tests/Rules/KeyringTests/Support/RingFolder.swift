import Foundation
import JOSE
import Keyring
import Testing

/// A key ring in a folder of its own, written by hand.
final class RingFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "KeyringTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    var directory: KeyRingDirectory { KeyRingDirectory(path: url.path) }

    func path(_ name: String) -> String { url.appending(path: name).path }

    func write(_ bytes: some Sequence<UInt8>, to name: String, mode: Int = 0o600) throws {
        try Data(bytes).write(to: url.appending(path: name))
        try setMode(mode, of: name)
    }

    func write(_ text: String, to name: String, mode: Int = 0o600) throws { try write(text.utf8, to: name, mode: mode) }

    func setMode(_ mode: Int, of name: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path(name))
    }

    func mode(of name: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path(name))
        return try #require(attributes[.posixPermissions] as? Int)
    }

    func read(_ name: String) throws -> String { try String(contentsOf: url.appending(path: name), encoding: .utf8) }

    /// The files in it, but for the operators' lock and log.
    func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: url.path)
            .filter { $0 != "keyring.lock" && $0 != "audit.log" }.sorted()
    }

    /// Writes `keyring.json` with these elements of `versions`, each on a line of its own from the second line on.
    func list(_ versions: String...) throws {
        try write("{\"versions\": [\n\(versions.joined(separator: ",\n"))\n]}\n", to: "keyring.json", mode: 0o644)
    }

    func load() throws(KeyRingError) -> KeyRing { try directory.load(name: "shop") }

    func refusal(sourceLocation: SourceLocation = #_sourceLocation) throws -> KeyRingError {
        try #require(
            #expect(throws: KeyRingError.self, sourceLocation: sourceLocation) { try load() },
            sourceLocation: sourceLocation)
    }
}

extension KeyRingError {
    /// `line:column`, or nothing for a file that has no lines.
    var place: String { line.flatMap { line in column.map { "\(line):\($0)" } } ?? "" }
}

extension SecretBytes {
    convenience init(text: String) { self.init(copying: text.utf8) }

    var array: [UInt8] { withBytes { Array($0) } }
    var text: String { String(decoding: array, as: UTF8.self) }
}

extension SigningKey {
    /// Whether `other` verifies what this key signs.
    func isPair(of other: VerificationKey?) throws -> Bool {
        guard let other else { return false }
        return verificationKey.hasSameMaterial(as: other)
    }
}
