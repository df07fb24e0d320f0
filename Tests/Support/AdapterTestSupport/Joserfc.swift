import Foundation
import ProgramTestSupport

/// The Python library joserfc as a second opinion on tokens: it shares no code with ours.
package enum Joserfc {
    /// The reason for skipping a test that needs the module.
    package static let isMissing = "python3 has no module joserfc; pip install joserfc"

    /// Whether the module is installed.
    package static let isInstalled = PythonModules.areInstalled("joserfc")

    /// A key as joserfc takes it.
    package enum Key {
        /// A shared secret: the text itself.
        case text(String)
        /// A shared secret in hexadecimal digits, which joserfc's side decodes by itself.
        case hex(String)
        /// A private or public key.
        case pem(String)

        fileprivate var arguments: [String] {
            switch self {
            case .text(let text): ["text", text]
            case .hex(let digits): ["hex", digits]
            case .pem(let text): ["pem", text]
            }
        }
    }

    /// Header and claims of `token`, a line each, if its signature is `key`'s; nil otherwise.
    package static func verify(_ token: [UInt8], _ algorithm: String, _ key: Key) async throws -> String? {
        try await run(["verify", algorithm] + key.arguments + [String(decoding: token, as: UTF8.self)])
    }

    /// A token with this header and these claims; nil where joserfc refuses to make one.
    package static func sign(header: String, claims: String, _ algorithm: String, _ key: Key) async throws -> [UInt8]? {
        try await run(["sign", algorithm] + key.arguments + [header, claims]).map { Array($0.utf8) }
    }

    private static let script = """
        import json, sys, warnings
        warnings.simplefilter("ignore")
        from joserfc import jws
        from joserfc.jwk import ECKey, OctKey, RSAKey
        from joserfc.registry import HeaderParameter
        action, algorithm, form, key, *rest = sys.argv[1:]
        if form == "pem":
            key = (RSAKey if algorithm.startswith("RS") else ECKey).import_key(key)
        else:
            key = OctKey.import_key(bytes.fromhex(key) if form == "hex" else key.encode())
        if action == "sign":
            print(jws.serialize_compact(json.loads(rest[0]), rest[1].encode(), key, algorithms=[algorithm]), end="")
        else:
            # Tableau's header names its issuer. Any other member that no RFC registers is refused.
            registry = jws.JWSRegistry({"iss": HeaderParameter("issuer", "str")}, [algorithm])
            token = jws.deserialize_compact(rest[0].encode(), key, registry=registry)
            print(json.dumps(token.headers(), separators=(",", ":")))
            print(token.payload.decode(), end="")
        """

    private static func python(_ arguments: [String]) -> Process {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3"] + arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        return process
    }

    /// Returns the script's output, or nil if it failed. The output goes to a file: a process started at the same
    /// moment can inherit a pipe's end, and keep it open after this one exited.
    private static func run(_ arguments: [String]) async throws -> String? {
        let file = FileManager.default.temporaryDirectory.appending(path: "joserfc-\(UUID().uuidString)")
        try Data().write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let output = try FileHandle(forWritingTo: file)
        defer { try? output.close() }
        let process = python(["-c", script] + arguments)
        process.standardOutput = output
        let status = try await withCheckedThrowingContinuation {
            (continuation: CheckedContinuation<Int32, any Error>) in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do { try process.run() } catch {
                process.terminationHandler = nil
                continuation.resume(throwing: error)
            }
        }
        return status == 0 ? try String(contentsOf: file, encoding: .utf8) : nil
    }
}
