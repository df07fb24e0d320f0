import Foundation
import ProgramTestSupport
import Testing

extension KeyScenarios {
    /// The tokens of a whole run, verified by a program that is not this project's.
    @Suite(.timeLimit(.minutes(10))) struct OpenSSLTests {
        @Test func `openssl verifies a token of every app`() async throws {
            let temporary = try TemporaryFolder()
            let folder = temporary.url.appending(path: "shop")
            let demo = try await Program.run(Repository.remint, ["demo", "--json", "--dir", folder.path])
            try #require(demo.status == 0, "\(demo.errorText)")
            let results = try #require(try JSONSerialization.jsonObject(with: demo.standardOutput) as? [[String: Any]])
            var verified: Set<String> = []
            var algorithms: Set<String> = []
            for result in results {
                guard let token = result["token"] as? String, let app = result["app"] as? String,
                    let algorithm = result["algorithm"] as? String, verified.insert(app).inserted
                else { continue }
                algorithms.insert(algorithm)
                try await verify(token, algorithm, app, folder)
            }
            // Some examples are there for their tokens' sake alone, and report nothing.
            #expect(verified == Set(results.compactMap { $0["app"] as? String }))
            #expect(algorithms == ["RS256", "ES256", "HS256", "HS512"])
        }

        private func verify(_ token: String, _ algorithm: String, _ app: String, _ folder: URL) async throws {
            let parts = token.split(separator: ".")
            try #require(parts.count == 3)
            let input = folder.appending(path: "\(app).input"), signature = folder.appending(path: "\(app).signature")
            try Data("\(parts[0]).\(parts[1])".utf8).write(to: input)
            let bytes = try base64url(parts[2])
            let openssl: Program
            if algorithm.hasPrefix("HS") {
                let secret = try String(
                    contentsOf: folder.appending(path: "keys/\(app)/\(app)-2026-11.secret"), encoding: .utf8)
                openssl = try await hmac(
                    algorithm, try await hexKey(secret, app, header: try base64url(parts[0]), folder), input)
                #expect(openssl.standardOutput == bytes, "\(app)")
            } else {
                try (algorithm == "ES256" ? der(bytes) : bytes).write(to: signature)
                openssl = try await Program.run(
                    "openssl",
                    [
                        "dgst", "-sha256", "-verify", folder.appending(path: "public/\(app).pem").path, "-signature",
                        signature.path, input.path,
                    ])
                #expect(openssl.outputText == "Verified OK\n", "\(app): \(openssl.errorText)")
            }
        }

        /// The key in hexadecimal digits. Infobip's secrets are hex, Sinch's base64 and the key is of the day that the header names;
        /// the other vendors' secrets are the text itself.
        private func hexKey(_ secret: String, _ app: String, header: Data, _ folder: URL) async throws -> String {
            if app.hasPrefix("infobip") { return secret }
            guard app.hasPrefix("sinch") else { return secret.utf8.map { hexByte($0) }.joined() }
            let header = try JSONSerialization.jsonObject(with: header) as? [String: Any]
            let day = folder.appending(path: "\(app).day")
            try Data(try #require(header?["kid"] as? String).suffix(8).utf8).write(to: day)
            let master = try #require(Data(base64Encoded: secret)).map { hexByte($0) }.joined()
            return try await hmac("HS256", master, day).standardOutput.map { hexByte($0) }.joined()
        }

        private func hmac(_ algorithm: String, _ hex: String, _ input: URL) async throws -> Program {
            try await Program.run(
                "openssl",
                [
                    "dgst", "-sha\(algorithm.dropFirst(2))", "-mac", "HMAC", "-macopt", "hexkey:\(hex)", "-binary",
                    input.path,
                ])
        }

        private func hexByte(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }

        private func base64url(_ text: Substring) throws -> Data {
            let padding = String(repeating: "=", count: (4 - text.count % 4) % 4)
            let standard = String(text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }) + padding
            return try #require(Data(base64Encoded: standard))
        }

        /// SEQUENCE of two INTEGERs, for openssl, out of r‖s.
        private func der(_ raw: Data) -> Data {
            func integer(_ bytes: Data) -> Data {
                var bytes = Data(bytes.drop { $0 == 0 })
                if (bytes.first ?? 0) >= 0x80 || bytes.isEmpty { bytes.insert(0, at: bytes.startIndex) }
                return Data([0x02, UInt8(bytes.count)]) + bytes
            }
            let body = integer(raw.prefix(32)) + integer(raw.suffix(32))
            return Data([0x30, UInt8(body.count)]) + body
        }
    }
}
