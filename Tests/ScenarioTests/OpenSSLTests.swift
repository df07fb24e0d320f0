import Foundation
import ProgramTestSupport
import Testing

extension Scenarios {
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
            let apps = try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: "keys").path)
            #expect(verified == Set(apps))
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
                // Infobip's secrets are hex; the other vendors' are the text itself.
                let hex = app.hasPrefix("infobip") ? secret : secret.utf8.map { hexByte($0) }.joined()
                openssl = try await Program.run(
                    "openssl",
                    [
                        "dgst", "-sha\(algorithm.dropFirst(2))", "-mac", "HMAC", "-macopt", "hexkey:\(hex)", "-binary",
                        input.path,
                    ])
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
