/// The `openssl` command in a folder of its own: the second opinion on what JOSE reads and writes.
final class OpenSSL: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let folder: CommandFolder

    init() throws { folder = try CommandFolder() }

    /// Runs one command and returns what it printed.
    @discardableResult
    func run(_ arguments: [String]) async throws -> [UInt8] {
        let (status, output) = try await folder.outcome(of: ["openssl"] + arguments)
        guard status == 0 else {
            throw Failure(description: "openssl \(arguments.joined(separator: " ")): status \(status)")
        }
        return output
    }

    /// Runs one command and returns whether it succeeded.
    func succeeds(_ arguments: [String]) async throws -> Bool {
        try await folder.outcome(of: ["openssl"] + arguments).status == 0
    }

    func write(_ bytes: [UInt8], to name: String) throws { try folder.write(bytes, to: name) }
    func write(_ text: String, to name: String) throws { try folder.write(text, to: name) }
    func read(_ name: String) throws -> [UInt8] { try folder.read(name) }
    func readText(_ name: String) throws -> String { try folder.readText(name) }
}
