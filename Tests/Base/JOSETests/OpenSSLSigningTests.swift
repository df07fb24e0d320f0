import Foundation
@_spi(Signing) import JOSE
import Testing

/// The arguments of the `openssl` command for one JWS algorithm.
struct CommandLineAlgorithm: Sendable, CustomTestStringConvertible {
    let algorithm: Algorithm
    let generate: [String]
    /// Options of `dgst`; nil where `pkeyutl` must be used.
    var digest: [String]?

    var testDescription: String { algorithm.rawValue }

    private var pss: [String] {
        algorithm.rawValue.hasPrefix("PS")
            ? ["-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:digest"] : []
    }

    /// Bytes of r and of s, for ECDSA.
    var width: Int? {
        switch algorithm.keyType {
        case .ec(.p256): 32
        case .ec(.p384): 48
        case .ec(.p521): 66
        default: nil
        }
    }

    func sign(key: String, input: String, output: String) -> [String] {
        guard let digest else { return ["pkeyutl", "-sign", "-inkey", key, "-rawin", "-in", input, "-out", output] }
        return ["dgst"] + digest + pss + ["-sign", key, "-out", output, input]
    }

    func verify(publicKey: String, signature: String, input: String) -> [String] {
        guard let digest else {
            return ["pkeyutl", "-verify", "-pubin", "-inkey", publicKey, "-rawin", "-in", input, "-sigfile", signature]
        }
        return ["dgst"] + digest + pss + ["-verify", publicKey, "-signature", signature, input]
    }

    static let all = [
        rsa(.rs256, "-sha256"), rsa(.rs384, "-sha384"), rsa(.rs512, "-sha512"),
        rsa(.ps256, "-sha256"), rsa(.ps384, "-sha384"), rsa(.ps512, "-sha512"),
        ec(.es256, "-sha256", "prime256v1"), ec(.es384, "-sha384", "secp384r1"), ec(.es512, "-sha512", "secp521r1"),
        CommandLineAlgorithm(algorithm: .eddsa, generate: ["genpkey", "-algorithm", "ED25519"]),
    ]

    private static func rsa(_ algorithm: Algorithm, _ digest: String) -> CommandLineAlgorithm {
        CommandLineAlgorithm(
            algorithm: algorithm, generate: ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"],
            digest: [digest])
    }

    private static func ec(_ algorithm: Algorithm, _ digest: String, _ curve: String) -> CommandLineAlgorithm {
        CommandLineAlgorithm(
            algorithm: algorithm, generate: ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:\(curve)"],
            digest: [digest])
    }
}

@Suite("Signatures against the openssl command", .timeLimit(.minutes(5)))
struct OpenSSLSigningTests {
    @Test(arguments: CommandLineAlgorithm.all)
    func `openssl verifies what JOSE signed`(_ tool: CommandLineAlgorithm) async throws {
        let folder = try CommandFolder()
        let key = try SampleKeys.make(tool.algorithm)
        let token = try CompactJWS(text: SampleToken.make(key))
        try folder.write(try #require(try key.verificationKey.publicKeyPEM()), to: "public.pem")
        try folder.write(token.signingInput, to: "input")
        let signature = tool.width == nil ? token.signature : DER.signature(fromRaw: token.signature)
        try folder.write(signature, to: "signature")
        let command = tool.verify(publicKey: "public.pem", signature: "signature", input: "input")
        #expect(try await folder.opensslSucceeds(command))
        // The command does notice a wrong input.
        try folder.write(token.signingInput + [0], to: "input")
        #expect(try await !folder.opensslSucceeds(command))
    }

    @Test(arguments: CommandLineAlgorithm.all)
    func `JOSE verifies what openssl signed`(_ tool: CommandLineAlgorithm) async throws {
        let folder = try CommandFolder()
        try await folder.openssl(tool.generate + ["-out", "key.pem"])
        try await folder.openssl(["pkey", "-in", "key.pem", "-pubout", "-out", "public.pem"])
        let key = try VerificationKey(publicKeyPEM: folder.readText("public.pem"), algorithm: tool.algorithm)
        let input = SigningInput(
            encodedHeader: Array(Base64.url.encode(text: #"{"alg":"\#(tool.algorithm.rawValue)"}"#).utf8),
            payload: Array(SampleToken.claims.utf8))
        try folder.write(input.bytes, to: "input")
        try await folder.openssl(tool.sign(key: "key.pem", input: "input", output: "signature"))
        var signature = try folder.read("signature")
        if let width = tool.width { signature = try #require(DER.raw(fromSignature: signature, width: width)) }
        try CompactJWS(parsing: input.token(signature: signature)).verify(with: key)
    }

    @Test(arguments: CommandLineAlgorithm.all)
    func `openssl signs with a private key that JOSE wrote`(_ tool: CommandLineAlgorithm) async throws {
        let folder = try CommandFolder()
        let key = try SampleKeys.make(tool.algorithm)
        try folder.write(try #require(try key.privateKeyPEM()).array, to: "key.pem")
        try folder.write("input", to: "input")
        try await folder.openssl(tool.sign(key: "key.pem", input: "input", output: "signature"))
        var signature = try folder.read("signature")
        if let width = tool.width { signature = try #require(DER.raw(fromSignature: signature, width: width)) }
        #expect(key.verificationKey.isValid(signature, of: Array("input".utf8)))
    }

    @Test(arguments: [Algorithm.hs256, .hs384, .hs512])
    func `openssl computes the same HMAC`(_ algorithm: Algorithm) async throws {
        let folder = try CommandFolder()
        let key = try SigningKey.generate(algorithm)
        let token = try CompactJWS(text: SampleToken.make(key))
        try folder.write(token.signingInput, to: "input")
        let hex = try #require(key.secret).array.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let digest = "-sha" + algorithm.rawValue.dropFirst(2)
        try await folder.openssl(
            ["dgst", digest, "-mac", "HMAC", "-macopt", "hexkey:\(hex)", "-binary", "-out", "mac", "input"])
        #expect(try folder.read("mac") == token.signature)
    }

    @Test(arguments: Algorithm.allCases)
    func `one signer signs again and again, each signature its input's own`(_ algorithm: Algorithm) throws {
        let key = try SampleKeys.make(algorithm)
        let signer = try Signer(key)
        #expect(signer.algorithm == algorithm)
        let inputs = [[], Array("first".utf8), [UInt8](repeating: 0x61, count: 5000), Array("first".utf8)]
        let signatures = try inputs.map { try signer.sign($0) }
        for (index, signature) in signatures.enumerated() {
            #expect(key.verificationKey.isValid(signature, of: inputs[index]))
            #expect(!key.verificationKey.isValid(signature, of: inputs[(index + 1) % inputs.count]))
        }
        #expect(Set(signatures.map(\.count)).count == 1)
    }

    @Test func `SHA-256 is that of FIPS 180-4`() {
        let digest = SHA256.hash(Array("abc".utf8)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(digest == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(SHA256.hash([]).prefix(4).elementsEqual([0xe3, 0xb0, 0xc4, 0x42]))
    }
}
