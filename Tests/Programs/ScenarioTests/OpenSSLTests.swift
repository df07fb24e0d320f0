import Foundation
import ProgramTestSupport
import Testing

extension KeyScenarios {
    /// The tokens of a whole run, verified by a program that is not this project's.
    @Suite(.timeLimit(.minutes(5))) struct OpenSSLTests {
        @Test func `openssl verifies a token of every app`() async throws {
            let temporary = try TemporaryFolder()
            let folder = temporary.url.appending(path: "shop")
            try await DemoFolder.copy(to: folder, all: true)
            let json = try await DemoFolder.results
            let results = try #require(try JSONSerialization.jsonObject(with: json) as? [[String: Any]])
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
                openssl = try await hmac(
                    algorithm, try await hexKey(app, header: try base64url(parts[0]), folder), input)
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

        /// The key in hexadecimal digits. The ring names the encoding of its secret; Sinch's key is of the day that the header
        /// names.
        private func hexKey(_ app: String, header: Data, _ folder: URL) async throws -> String {
            let ring = folder.appending(path: "keys/\(app)")
            let listing = try JSONSerialization.jsonObject(with: Data(contentsOf: ring.appending(path: "keyring.json")))
            let versions = try #require((listing as? [String: Any])?["versions"] as? [[String: Any]])
            let version = try #require(versions.first { $0["state"] as? String == "active" })
            let secret = try String(
                contentsOf: ring.appending(path: try #require(version["file"] as? String)), encoding: .utf8)
            let key = try hex(of: secret, try #require(version["encoding"] as? String))
            guard app.hasPrefix("sinch") else { return key }
            let header = try JSONSerialization.jsonObject(with: header) as? [String: Any]
            let day = folder.appending(path: "\(app).day")
            try Data(try #require(header?["kid"] as? String).suffix(8).utf8).write(to: day)
            return try await hmac("HS256", key, day).standardOutput.map { hexByte($0) }.joined()
        }

        private func hex(of secret: String, _ encoding: String) throws -> String {
            switch encoding {
            case "hex": secret
            case "base64", "base64url": try base64url(secret[...]).map { hexByte($0) }.joined()
            default: secret.utf8.map { hexByte($0) }.joined()
            }
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
            let digits = text.filter { $0 != "=" }
            let padding = String(repeating: "=", count: (4 - digits.count % 4) % 4)
            let standard = String(digits.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }) + padding
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
