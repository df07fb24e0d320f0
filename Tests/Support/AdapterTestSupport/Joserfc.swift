import ProgramTestSupport

/// The Python library joserfc as a second opinion on tokens: it shares no code with ours.
package enum Joserfc {
    /// The reason for skipping a test that needs the module.
    package static let isMissing = "python3 has no module joserfc; pip install joserfc"

    package static let isInstalled = PythonModules.areInstalled("joserfc")

    package enum Key {
        /// A shared secret: the text itself.
        case text(String)
        /// A shared secret in hexadecimal digits, which joserfc's side decodes by itself.
        case hex(String)
        case pem(String)

        fileprivate var parts: (form: String, text: String) {
            switch self {
            case .text(let text): ("text", text)
            case .hex(let digits): ("hex", digits)
            case .pem(let text): ("pem", text)
            }
        }
    }

    /// Header and claims of `token`, a line each, if its signature is `key`'s; nil otherwise.
    package static func verify(_ token: [UInt8], _ algorithm: String, _ key: Key) async throws -> String? {
        try await ask("verify", algorithm, key, [String(decoding: token, as: UTF8.self)])
    }

    /// A token with this header and these claims; nil where joserfc refuses to make one.
    package static func sign(header: String, claims: String, _ algorithm: String, _ key: Key) async throws -> [UInt8]? {
        try await ask("sign", algorithm, key, [header, claims]).map { Array($0.utf8) }
    }

    private struct Request: Encodable {
        let action: String
        let algorithm: String
        let form: String
        let key: String
        let rest: [String]
    }

    /// Returns the script's answer, or nil if joserfc refused.
    private static func ask(
        _ action: String, _ algorithm: String, _ key: Key, _ rest: [String]
    ) async throws -> String? {
        let (form, text) = key.parts
        let request = Request(action: action, algorithm: algorithm, form: form, key: text, rest: rest)
        return try await server.answer(to: request).ok
    }

    private static let server = PythonServer(
        """
        from joserfc import jws
        from joserfc.jwk import ECKey, OctKey, RSAKey
        from joserfc.registry import HeaderParameter

        def answer(request):
            action, algorithm, form, key, rest = (
                request[name] for name in ("action", "algorithm", "form", "key", "rest"))
            if form == "pem":
                key = (RSAKey if algorithm.startswith("RS") else ECKey).import_key(key)
            else:
                key = OctKey.import_key(bytes.fromhex(key) if form == "hex" else key.encode())
            if action == "sign":
                return jws.serialize_compact(json.loads(rest[0]), rest[1].encode(), key, algorithms=[algorithm])
            # Tableau's header names its issuer. Any other member that no RFC registers is refused.
            registry = jws.JWSRegistry({"iss": HeaderParameter("issuer", "str")}, [algorithm])
            token = jws.deserialize_compact(rest[0].encode(), key, registry=registry)
            return json.dumps(token.headers(), separators=(",", ":")) + chr(10) + token.payload.decode()
        """)
}
