import CertificateTestSupport
import Foundation
import Testing

/// `openssl s_server` in place of a broker: it speaks TLS and nothing else.
final class TLSServer: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let port: String
    private let process: Process
    /// Open as long as the server is to run: it stops at the end of its input.
    private let input = Pipe()
    private let output: AsyncStream<String>

    /// Starts a server with the certificate `name` of `certificates`.
    init(_ certificates: Certificates, name: String = "localhost", arguments: [String] = []) async throws {
        process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.currentDirectoryURL = certificates.folder
        process.arguments =
            ["openssl", "s_server", "-4", "-accept", "127.0.0.1:0", "-cert", "\(name).pem", "-key", "\(name).key"]
            + arguments
        process.standardInput = input
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        output = lines(of: pipe.fileHandleForReading)
        try process.run()
        var found: String?
        for await line in output where line.hasPrefix("ACCEPT ") {
            found = line.split(separator: ":").last.map(String.init)
            break
        }
        guard let found else { throw Failure(description: "openssl s_server did not start") }
        port = found
    }

    /// The next line that begins with `prefix`; nil once the server is gone.
    func line(beginning prefix: String) async -> String? {
        for await line in output where line.hasPrefix(prefix) { return line }
        return nil
    }

    /// Not `terminate`: a process started on one of Dispatch's threads inherits its blocked signals.
    func stop() { kill(process.processIdentifier, SIGKILL) }
}

/// Reads on a thread of its own. `readabilityHandler` is a source of Dispatch's, whose end comes later than that of the
/// file it reads: an event between the two crashes the process.
private func lines(of file: FileHandle) -> AsyncStream<String> {
    let (stream, continuation) = AsyncStream<String>.makeStream()
    Thread.detachNewThread {
        var rest = Data()
        while case let data = file.availableData, !data.isEmpty {
            rest += data
            let parts = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            rest = Data(parts.last ?? Data())
            for line in parts.dropLast() { continuation.yield(String(decoding: line, as: UTF8.self)) }
        }
        continuation.finish()
    }
    return stream
}
