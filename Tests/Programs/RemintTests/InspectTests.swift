import CommandTestSupport
import Foundation
import JOSE
import ProgramTestSupport
import Testing

/// `remint inspect`, with a token of the demonstration.
@Suite(.timeLimit(.minutes(5))) struct InspectTests {
    @Test func `inspect distinguishes a good token from a bad one`() async throws {
        let temporary = try TemporaryFolder()
        let folder = temporary.url.appending(path: "shop")
        try await DemoFolder.copy(to: folder)
        let token = try await Self.token()
        let config = ["--config", folder.appending(path: "remint.yaml").path, "--app", "braze-ios"]
        let good = try await Command.remint(["inspect"] + config + [token])
        #expect(good.status == 0 && good.outputText.contains("Braze says: accepted"), "\(good.outputText)")
        let other = try await Command.remint(["inspect"] + config + ["--user", "someone", token])
        #expect(other.status == 1 && other.outputText.contains("21 SUBJECT_MISMATCH"), "\(other.outputText)")
        let cut = try await Command.remint(["inspect"] + config + [String(token.dropLast(8))])
        #expect(cut.status == 1 && cut.outputText.contains("27 NO_MATCHING_PUBLIC_KEYS"), "\(cut.outputText)")
        let signature = try #require(token.split(separator: ".").last)
        #expect(!good.outputText.contains(signature))
        let usage = try await Command.remint(["inspect"] + config + ["--ap", "x"])
        #expect(usage.status == 2)
    }

    @Test func `inspect opens a sealed token with its recipient's key, and with no other`() async throws {
        let temporary = try TemporaryFolder()
        let folder = temporary.url.appending(path: "shop")
        try await DemoFolder.copy(to: folder)
        let token = try await Self.token()
        let (own, other) = (folder.appending(path: "own.jwk"), folder.appending(path: "other.jwk"))
        let bob =
            #""x":"weNJy2HscCSM6AEDTDg04biOvhFhyyWvOHQfeF_PxMQ","y":"e8lnCO-AlStT-NJVX-crhB7QRYhiix03illJOVAOyck""#
        let alice =
            #""x":"gI0GAILBdu7T53akrFmMyGcsF3n5dO7MmwNBHKW5SV0","y":"SLW_xSffzlPWrHEVI30DHM_4egVwt3NQqeUD7nMFpps""#
        try Self.write(bob, d: "VEmDZpDXXK8p8N0Cndsxs924q6nS1RXFASRl6BfUqdw", to: own)
        try Self.write(alice, d: "0_NxaRPUMQoAJt50Gz8YiTr8gRTwyEaCumd-MToTmIo", to: other)
        let recipient = try JWERecipient(publicJWK: SecretBytes(copying: Array(Self.jwk(bob).utf8)))
        let sealed = String(decoding: try recipient.seal(Array(token.utf8)), as: UTF8.self)
        let inspect = [
            "inspect", "--config", folder.appending(path: "remint.yaml").path, "--app", "braze-ios", "--recipient",
        ]
        let good = try await Command.remint(inspect + [own.path, sealed])
        #expect(good.status == 0 && good.outputText.contains("Braze says: accepted"), "\(good.errorText)")
        let bad = try await Command.remint(inspect + [other.path, sealed])
        #expect(bad.status != 0 && bad.errorText.contains("does not open the token"), "\(bad.errorText)")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: own.path)
        let open = try await Command.remint(inspect + [own.path, sealed])
        #expect(open.status != 0 && !open.outputText.contains("accepted"), "\(open.errorText)")
    }

    /// A key of RFC 7518, appendix C.
    private static func jwk(_ point: String, d: String? = nil) -> String {
        #"{"kty":"EC","crv":"P-256","alg":"ECDH-ES+A256KW",\#(point)\#(d.map { #","d":"\#($0)""# } ?? "")}"#
    }

    private static func write(_ point: String, d: String, to file: URL) throws {
        try jwk(point, d: d).write(to: file, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    }

    /// Returns a token of the app braze-ios.
    private static func token() async throws -> String {
        let results = try JSONSerialization.jsonObject(with: try await DemoFolder.results) as? [[String: Any]]
        let own = results?.first { $0["app"] as? String == "braze-ios" && $0["token"] != nil }
        return try #require(own?["token"] as? String)
    }
}
