import Foundation
import ProgramTestSupport
import Testing

/// The Python library joserfc as a second opinion on encrypted tokens: it shares no code with ours.
enum JoserfcEncryption {
    /// The reason for skipping a test that needs the module.
    static let isMissing = "python3 has no module joserfc; pip install joserfc"

    static let isInstalled = PythonModules.areInstalled("joserfc")

    /// A key that joserfc made, and a token that it sealed to it.
    struct Sealed: Decodable {
        let privateJWK: String
        let publicJWK: String
        let token: String
    }

    /// A new key of `size`, a curve or a number of bits, and a token of `plaintext` with these header members.
    static func seal(
        _ plaintext: String, _ algorithm: String, size: String, header: String
    ) async throws -> Sealed {
        let answer = try await server.answer(to: ["seal", algorithm, size, header, plaintext])
        return try JSONDecoder().decode(Sealed.self, from: Data(try #require(answer.ok, "\(answer)").utf8))
    }

    /// The plaintext of `token`, if the key opens it; nil otherwise.
    static func open(_ token: [UInt8], _ algorithm: String, privateJWK: String) async throws -> [UInt8]? {
        let request = ["open", algorithm, privateJWK, String(decoding: token, as: UTF8.self)]
        return try await server.answer(to: request).ok.map { Array($0.utf8) }
    }

    private static let server = PythonServer(
        """
        from joserfc import jwe
        from joserfc.jwk import ECKey, RSAKey

        def answer(request):
            action, algorithm, *rest = request
            offered = [algorithm, "A256GCM"]
            family = RSAKey if algorithm.startswith("RSA") else ECKey
            if action == "seal":
                size, header, plaintext = rest
                named = {"kid": "theirs", "use": "enc", "alg": algorithm}
                key = family.generate_key(int(size) if family is RSAKey else size, named, private=True)
                header = {"alg": algorithm, "enc": "A256GCM", **json.loads(header)}
                token = jwe.encrypt_compact(header, plaintext.encode(), key, algorithms=offered)
                private, public = (json.dumps(key.as_dict(private=which)) for which in (True, False))
                return json.dumps({"privateJWK": private, "publicJWK": public, "token": token})
            key = family.import_key(json.loads(rest[0]))
            return jwe.decrypt_compact(rest[1].encode(), key, algorithms=offered).plaintext.decode()
        """)
}
