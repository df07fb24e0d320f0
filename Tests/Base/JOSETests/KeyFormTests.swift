import Foundation
import JOSE
import ProgramTestSupport
import Testing

/// Programs that share no code with ours, as second opinions on imported keys.
private enum Verifier {
    /// A token and the public key that it is verified with, in two forms.
    struct Request: Encodable {
        let algorithm: String
        let token: String
        let pem: String
        let jwk: String
    }

    /// Answers `ok` where both forms of the key verify the token.
    static let joserfc = PythonServer(
        """
        from joserfc import jws
        from joserfc.jwk import ECKey, OKPKey, RSAKey

        def answer(request):
            algorithm = request["algorithm"]
            family = RSAKey if algorithm[0] in "RP" else OKPKey if algorithm == "EdDSA" else ECKey
            for key in (request["pem"], json.loads(request["jwk"])):
                jws.deserialize_compact(request["token"], family.import_key(key), algorithms=[algorithm])
            return "ok"
        """)

    static let pyJWT = PythonServer(
        """
        import jwt
        from cryptography.hazmat.primitives.serialization import load_pem_public_key

        def answer(request):
            key = load_pem_public_key(request["pem"].encode())
            for key in (key, jwt.PyJWK.from_json(request["jwk"]).key):
                jwt.decode(request["token"], key, algorithms=[request["algorithm"]], options={"verify_exp": False})
            return "ok"
        """)

    static let java = """
        import java.nio.file.*; import java.security.*; import java.security.spec.*; import java.util.*;
        public class Read {
            public static void main(String[] names) throws Exception {
                for (int i = 0; i < names.length; i += 2) {
                    String text = Files.readString(Path.of(names[i + 1])).replaceAll("-----[A-Z ]+-----|\\\\s", "");
                    KeyFactory.getInstance(names[i]).generatePublic(
                        new X509EncodedKeySpec(Base64.getDecoder().decode(text)));
                }
                System.out.print("ok");
            }
        }
        """
}

@Suite("Private keys in the forms that people have them", .timeLimit(.minutes(5)))
struct KeyFormTests {
    private static let hasJoserfc = PythonModules.areInstalled("joserfc")
    private static let hasPyJWT = PythonModules.areInstalled("jwt, cryptography")
    private static let hasJava = Tool.isInstalled("java")

    /// The PEM that a key's public half is printed as, without line ends and labels.
    private func encoded(_ pem: String) throws -> [UInt8] {
        let lines = pem.split(whereSeparator: \.isNewline).filter { !$0.hasPrefix("-----") }
        return Array(try #require(Data(base64Encoded: lines.joined())))
    }

    /// The widths of public keys with a named curve and an uncompressed point, in DER.
    private static let widths = [Algorithm.es256: 91, .es384: 120, .es512: 158, .eddsa: 44]

    @Test(arguments: KeyForm.available)
    func `a key of every accepted form is written in the form that every verifier reads`(
        _ form: KeyForm
    ) async throws {
        let key = try await MadeKeys.shared.key(of: form)
        let pem = try #require(try key.verificationKey.publicKeyPEM())
        let folder = try CommandFolder()
        try folder.write(pem, to: "public.pem")
        #expect(try await folder.outcome(of: ["openssl", "pkey", "-pubin", "-in", "public.pem", "-noout"]).status == 0)
        if let width = Self.widths[form.algorithm] { #expect(try encoded(pem).count == width) }
        // A ring's file is what is written here, and is the same key.
        let written = try #require(try key.privateKeyPEM())
        let again = try SigningKey(pem: written, algorithm: form.algorithm)
        #expect(again.verificationKey.hasSameMaterial(as: key.verificationKey))
        #expect(try again.verificationKey.publicKeyPEM() == pem)
    }

    @Test(.enabled(if: hasJoserfc, "python3 has no module joserfc; pip install joserfc"), arguments: KeyForm.available)
    func `joserfc verifies the tokens of a key of every accepted form`(_ form: KeyForm) async throws {
        try await expectVerifies(Verifier.joserfc, form)
    }

    @Test(
        .enabled(if: hasPyJWT, "python3 lacks a module; pip install pyjwt cryptography"), arguments: KeyForm.available)
    func `PyJWT verifies the tokens of a key of every accepted form`(_ form: KeyForm) async throws {
        try await expectVerifies(Verifier.pyJWT, form)
    }

    private func expectVerifies(_ verifier: PythonServer, _ form: KeyForm) async throws {
        let key = try await MadeKeys.shared.key(of: form)
        let answer = try await verifier.answer(
            to: Verifier.Request(
                algorithm: form.algorithm.rawValue, token: try SampleToken.make(key),
                pem: try #require(try key.verificationKey.publicKeyPEM()),
                jwk: String(decoding: try #require(try JWK.publicJSON(of: key.verificationKey)), as: UTF8.self)))
        #expect(answer.ok == "ok", "\(answer)")
    }

    @Test(.enabled(if: hasJava, "no java in the search path"))
    func `Java reads the printed public key of every accepted form`() async throws {
        let folder = try CommandFolder()
        try folder.write(Verifier.java, to: "Read.java")
        var arguments: [String] = []
        for (number, form) in KeyForm.available.enumerated() {
            let key = try await MadeKeys.shared.key(of: form)
            try folder.write(try #require(try key.verificationKey.publicKeyPEM()), to: "\(number).pem")
            let family =
                switch form.algorithm.keyType {
                case .rsa: "RSA"
                case .ec: "EC"
                default: "Ed25519"
                }
            arguments += [family, "\(number).pem"]
        }
        let (status, output) = try await folder.outcome(of: ["java", "Read.java"] + arguments)
        #expect(status == 0)
        #expect(output == Array("ok".utf8))
    }

    @Test(.enabled(if: KeyForm.missingTools.isEmpty, "not installed: \(KeyForm.missingTools)"))
    func `every accepted form is made by its own tool`() {
        #expect(KeyForm.available.count == KeyForm.accepted.count)
    }

    @Test(arguments: RefusedForm.all.filter(\.isAvailable))
    func `a file of another form is refused with the command that converts it`(_ form: RefusedForm) async throws {
        let text = try await form.make()
        let error = #expect(throws: JOSEError.self) {
            try SigningKey(
                importing: text, passphrase: SecretBytes(text: KeyForm.passphrase), algorithm: form.algorithm)
        }
        #expect(error?.code == form.code)
        #expect(error?.message.contains(form.words) == true, "\(error?.message ?? "")")
    }

    @Test func `a key of a ring with a second key in its file still loads`() throws {
        let pems = try [SampleKeys.make(.es256), SampleKeys.make(.es256)].map {
            try #require(try $0.privateKeyPEM()).array
        }
        let key = try SigningKey(pem: SecretBytes(copying: pems[0] + pems[1]), algorithm: .es256)
        #expect(try key.privateKeyPEM()?.array == pems[0])
    }
}
