public import Foundation

/// Authorities and the certificates they sign, made by `openssl` in a folder that is gone with the object.
public final class Certificates: Sendable {
    /// `openssl` does not do what it is asked.
    public struct Failure: Error, CustomStringConvertible {
        /// The error in words.
        public let description: String
    }

    /// The folder of the files.
    public let folder: URL

    /// None yet, in a folder of its own.
    public init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "Certificates-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// The path of one of its files.
    public func path(_ file: String) -> String { folder.appending(path: file).path }

    private static let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]

    /// Makes `name.pem` and `name.key`: an authority, or a certificate that `authority` issued to the host `host`.
    public func make(_ name: String, host: String = "localhost", signedBy authority: String? = nil) async throws {
        var arguments =
            ["req", "-x509"] + Self.newKey + [
                "-days", "2", "-keyout", "\(name).key", "-out", "\(name).pem", "-subj", "/CN=\(name)",
            ]
        if let authority {
            arguments += [
                "-CA", "\(authority).pem", "-CAkey", "\(authority).key", "-addext", "subjectAltName=DNS:\(host)",
            ]
        }
        try await openssl(arguments)
    }

    /// Makes `name.pem` and `name.key`: a certificate that `authority` issued to the host `host` for January 2020.
    public func makeExpired(_ name: String, host: String = "localhost", signedBy authority: String) async throws {
        // `req` knows no days in the past.
        let settings = """
            [ca]
            default_ca = once
            [once]
            database = \(name).index
            new_certs_dir = .
            rand_serial = yes
            default_md = sha256
            policy = any
            copy_extensions = copy
            [any]
            commonName = supplied
            """
        try Data(settings.utf8).write(to: folder.appending(path: "\(name).conf"))
        try Data().write(to: folder.appending(path: "\(name).index"))
        try await openssl(
            ["req", "-new"] + Self.newKey + [
                "-keyout", "\(name).key", "-out", "\(name).csr", "-subj", "/CN=\(name)", "-addext",
                "subjectAltName=DNS:\(host)",
            ])
        try await openssl([
            "ca", "-batch", "-config", "\(name).conf", "-in", "\(name).csr", "-cert", "\(authority).pem", "-keyfile",
            "\(authority).key", "-startdate", "20200101000000Z", "-enddate", "20200201000000Z", "-notext", "-out",
            "\(name).pem",
        ])
    }

    private func openssl(_ arguments: [String]) async throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        process.currentDirectoryURL = folder
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        let status = try await withCheckedThrowingContinuation {
            (continuation: CheckedContinuation<Int32, any Error>) in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do { try process.run() } catch {
                process.terminationHandler = nil
                continuation.resume(throwing: error)
            }
        }
        guard status == 0 else { throw Failure(description: "openssl \(arguments[0]): status \(status)") }
    }
}
