import Access
@_spi(Signing) import JOSE
import Testing

@Suite("Algorithms of sessions")
struct AlgorithmTests {
    @Test(arguments: [Algorithm.rs256, .ps256, .es256, .eddsa])
    func `a session signed with an algorithm allowed by default is accepted`(_ algorithm: Algorithm) async throws {
        let key = try SampleIssuer.key(algorithm)
        let verifier = try SampleIssuer.verifier([key])
        _ = try await verifier.verify(try SampleIssuer.session(key), now: SampleIssuer.now)
    }

    @Test(arguments: [Algorithm.rs384, .rs512, .ps384, .ps512, .es384, .es512])
    func `an algorithm the operator allows is accepted, and refused by default`(_ algorithm: Algorithm) async throws {
        let key = try SampleIssuer.key(algorithm)
        var rules = SampleIssuer.rules
        rules.algorithms = [algorithm]
        let verifier = try SampleIssuer.verifier([key], rules: rules)
        let token = try SampleIssuer.session(key)
        _ = try await verifier.verify(token, now: SampleIssuer.now)
        let byDefault = try SampleIssuer.verifier([SampleIssuer.key(.es256)])
        await expectRefusal(.wrongAlgorithm) { try await byDefault.verify(token, now: SampleIssuer.now) }
    }

    /// The classic confusion: what is public, used as the secret of an HMAC.
    @Test(arguments: [true, false])
    func `a public key is no secret, though HMAC be allowed`(isAllowed: Bool) async throws {
        let key = try SampleIssuer.key(.rs256)
        var rules = SampleIssuer.rules
        if isAllowed { rules.algorithms.formUnion([.hs256, .hs384, .hs512]) }
        let verifier = try SampleIssuer.verifier([key], rules: rules)
        let pem = try #require(try key.verificationKey.publicKeyPEM())
        let jwk = try #require(try JWK.publicJSON(of: key.verificationKey))
        let texts = [Array(pem.utf8), Array(pem.utf8.dropLast()), jwk, try SampleIssuer.document([key])]
        for (text, algorithm) in texts.flatMap({ text in [Algorithm.hs256, .hs384, .hs512].map { (text, $0) } }) {
            let forger = try SigningKey(secret: SecretBytes(copying: text), algorithm: algorithm, keyID: "a")
            await expectRefusal(isAllowed ? .badSignature : .wrongAlgorithm) {
                try await verifier.verify(try SampleIssuer.session(forger), now: SampleIssuer.now)
            }
        }
    }

    @Test func `an algorithm is the key's, and never the header's`() async throws {
        let stated = try SampleIssuer.key(.rs256)
        let verifier = try SampleIssuer.verifier([stated])
        // The same pair, but its JWK says RS256.
        let other = try SampleIssuer.key(.ps256)
        await expectRefusal(.badSignature) {
            try await verifier.verify(try SampleIssuer.session(other), now: SampleIssuer.now)
        }
    }

    @Test func `a shared secret serves where the operator gave one`() async throws {
        var rules = SampleIssuer.rules
        rules.algorithms = [.hs256]
        let key = try SampleIssuer.key(.hs256)
        let set = try KeySet([key.verificationKey])
        let verifier = SessionVerifier(rules: rules, keys: StaticKeys(set))
        _ = try await verifier.verify(try SampleIssuer.session(key), now: SampleIssuer.now)
        let byDefault = SessionVerifier(rules: SampleIssuer.rules, keys: StaticKeys(set))
        await expectRefusal(.wrongAlgorithm) {
            try await byDefault.verify(try SampleIssuer.session(key), now: SampleIssuer.now)
        }
    }

    @Test func `a weak secret is refused`() throws {
        let weak = try VerificationKey(secret: SecretBytes(copying: "password".utf8), algorithm: .hs256)
        #expect(throws: KeySetError.weakSecret) { try KeySet([weak]) }
        #expect(throws: KeySetError.noUsableKey) { try KeySet([]) }
    }

    @Test func `a public key in PEM serves, with and without an id`() async throws {
        let key = try SampleIssuer.key(.es256)
        let pem = try #require(try key.verificationKey.publicKeyPEM())
        for keyID in ["a", nil] {
            let set = try KeySet([try VerificationKey(publicKeyPEM: pem, algorithm: .es256, keyID: keyID)])
            let verifier = SessionVerifier(rules: SampleIssuer.rules, keys: StaticKeys(set))
            for header: Changes in [[:], ["kid": nil]] {
                let token = try SampleIssuer.session(key, header: header)
                _ = try await verifier.verify(token, now: SampleIssuer.now)
            }
            let foreign = try SampleIssuer.session(SampleIssuer.key(.es256))
            await expectRefusal(.badSignature) { try await verifier.verify(foreign, now: SampleIssuer.now) }
        }
    }

    @Test func `a session without a key's name is tried with a few keys, not with a hundred`() async throws {
        for (count, isTried) in [(8, true), (9, false)] {
            let keys = try (0..<count).map { try SampleIssuer.key(.es256, "k\($0)") }
            let verifier = try SampleIssuer.verifier(keys + [SampleIssuer.key(.eddsa)])
            let token = try SampleIssuer.session(keys[count - 1], header: ["kid": nil])
            if isTried {
                _ = try await verifier.verify(token, now: SampleIssuer.now)
            } else {
                await expectRefusal(.unknownKey) { try await verifier.verify(token, now: SampleIssuer.now) }
            }
        }
    }
}
