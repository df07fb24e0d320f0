import Access
@_spi(Signing) import JOSE
import Testing

/// A proof with something changed, and what becomes of it.
struct ProofCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var claims: Changes = [:]
    var header: Changes = [:]
    /// Nil for a proof that is taken.
    let reason: AccessRefusal.Reason?

    private static func refused(
        _ reason: AccessRefusal.Reason, _ what: String, _ claims: Changes = [:], header: Changes = [:]
    ) -> ProofCase {
        ProofCase(testDescription: "\(what): \(reason)", claims: claims, header: header, reason: reason)
    }

    private static func taken(_ what: String, _ claims: Changes = [:], header: Changes = [:]) -> ProofCase {
        ProofCase(testDescription: "\(what): taken", claims: claims, header: header, reason: nil)
    }

    static let all = claims + headers

    /// `now` is 1,700,000,000; a proof lives for 60 seconds and clocks may differ by 30.
    private static let claims = [
        taken("as it is"),
        refused(.proofWrongRequest, "another method", ["htm": #""POST""#]),
        refused(.proofWrongRequest, "the method in small letters", ["htm": #""get""#]),
        refused(.proofMalformed, "no method", ["htm": nil]), refused(.proofMalformed, "a number", ["htm": "7"]),
        refused(.proofWrongRequest, "another URL", ["htu": #""https://remint.example/v1/apps/other/token""#]),
        refused(.proofWrongRequest, "another host", ["htu": #""https://evil.example/v1/apps/shop/token""#]),
        refused(.proofWrongRequest, "no URL at all", ["htu": #""/v1/apps/shop/token""#]),
        refused(.proofMalformed, "no URL", ["htu": nil]), refused(.proofMalformed, "a list", ["htu": "[]"]),
        taken("another spelling", ["htu": #""HTTPS://REMINT.example:443/v1/apps/./shop/token?wait=3""#]),
        refused(.proofWrongSession, "no hash of the session", ["ath": nil]),
        refused(.proofWrongSession, "another's hash", ["ath": "\"\(Base64.url.encode(SHA256.hash([1])))\""]),
        refused(.proofWrongSession, "a hash of null", ["ath": "null"]),
        taken("90 seconds old", ["iat": "1699999910"]),
        refused(.proofWrongTime, "91 seconds old", ["iat": "1699999909"]),
        refused(.proofWrongTime, "years old", ["iat": "7"]), taken("30 seconds ahead", ["iat": "1700000030"]),
        refused(.proofWrongTime, "31 seconds ahead", ["iat": "1700000031"]),
        refused(.proofWrongTime, "beyond all times", ["iat": "1e300"]), taken("a fraction", ["iat": "1700000000.25"]),
        refused(.proofMalformed, "no time", ["iat": nil]),
        refused(.proofMalformed, "a string", ["iat": #""1700000000""#]),
        refused(.proofMalformed, "no id", ["jti": nil]), refused(.proofMalformed, "an empty id", ["jti": #""""#]),
        refused(.proofMalformed, "an id that is a number", ["jti": "7"]),
        taken("an id of 128 bytes", ["jti": "\"" + String(repeating: "j", count: 128) + "\""]),
        refused(.proofMalformed, "an id of 129 bytes", ["jti": "\"" + String(repeating: "j", count: 129) + "\""]),
        taken("claims that mean nothing here", ["nonce": #""x""#, "exp": "1"]),
    ]

    private static let headers = [
        refused(.proofMalformed, "no type", header: ["typ": nil]),
        refused(.proofMalformed, "a session's type", header: ["typ": #""JWT""#]),
        taken("its type spelt out", header: ["typ": #""application/DPOP+jwt""#]),
        refused(.proofMalformed, "critical", header: ["crit": #"["htm"]"#]),
        refused(.proofWrongKey, "no key", header: ["jwk": nil]),
        refused(.proofWrongKey, "a key that is a string", header: ["jwk": #""x""#]),
        refused(.proofWrongKey, "no algorithm", header: ["alg": #""none""#]),
        refused(.proofWrongKey, "HMAC", header: ["alg": #""HS256""#]),
        refused(.proofWrongKey, "an algorithm of another key", header: ["alg": #""RS256""#]),
        refused(.proofWrongKey, "one not allowed", header: ["alg": #""ES512""#]),
        refused(.proofWrongKey, "a shared secret", header: ["alg": #""HS256""#, "jwk": #"{"kty":"oct","k":"AAAA"}"#]),
    ]
}

@Suite("Proofs")
struct ProofTests {
    private let device: SampleDevice
    private let session = Array("the session".utf8)

    init() throws { device = try SampleDevice() }

    private func verify(
        _ proof: [UInt8], with verifier: DPoPVerifier = DPoPVerifier(), boundTo boundKey: String? = nil,
        at now: UnixTime = SampleIssuer.now
    ) throws -> String {
        let checked = try verifier.check(
            proof, for: try SampleDevice.request, accessToken: session, boundTo: boundKey, now: now)
        try verifier.use(checked, now: now)
        return checked.thumbprint
    }

    @Test(arguments: ProofCase.all)
    func `a proof is accepted, or refused with its reason`(_ example: ProofCase) async throws {
        let proof = try device.proof(for: session, example.claims, header: example.header)
        guard let reason = example.reason else {
            #expect(try verify(proof) == device.thumbprint)
            return
        }
        await expectRefusal(reason) { try verify(proof) }
    }

    @Test(arguments: [Algorithm.es256, .eddsa, .rs256, .ps256])
    func `a device is named by its key's thumbprint`(_ algorithm: Algorithm) throws {
        let device = try SampleDevice(algorithm)
        #expect(try verify(try device.proof(for: session)) == device.thumbprint)
    }

    @Test func `a proof signed by another key than it shows is refused`() async throws {
        let other = try SampleDevice()
        let proof = try device.proof(for: session, header: ["jwk": try other.jwk])
        await expectRefusal(.proofBadSignature) { try verify(proof) }
    }

    @Test(arguments: ["d", "p", "k"]) func `a key with a private member is refused`(name: String) async throws {
        let jwk = try String(device.jwk.dropLast()) + #","\#(name)":"AQ"}"#
        let proof = try device.proof(for: session, header: ["jwk": jwk])
        await expectRefusal(.proofWrongKey) { try verify(proof) }
    }

    @Test func `a key for encryption is refused`() async throws {
        let jwk = try device.jwk.replacing(#""use":"sig""#, with: #""use":"enc""#)
        let proof = try device.proof(for: session, header: ["jwk": jwk])
        await expectRefusal(.proofWrongKey) { try verify(proof) }
    }

    @Test func `a key that would keep us busy is refused`() async throws {
        let (n, e) = (Base64.url.encode([UInt8](repeating: 0xFF, count: 513)), "AQAB")
        let header: Changes = ["alg": #""RS256""#, "jwk": #"{"kty":"RSA","n":"\#(n)","e":"\#(e)"}"#]
        await expectRefusal(.proofWrongKey) { try verify(try device.proof(for: session, header: header)) }
    }

    @Test func `a proof of another session's key is refused`() async throws {
        let other = try SampleDevice()
        #expect(try verify(try device.proof(for: session), boundTo: device.thumbprint) == device.thumbprint)
        let bound = try other.thumbprint
        await expectRefusal(.proofMismatch) { try verify(try device.proof(for: session), boundTo: bound) }
        await expectRefusal(.proofMismatch) { try verify(try device.proof(for: session), boundTo: "") }
    }

    @Test func `a proof is good once, and its id is good for another key`() async throws {
        let verifier = DPoPVerifier()
        _ = try verify(try device.proof(for: session), with: verifier)
        await expectRefusal(.proofReplayed) { try verify(try device.proof(for: session), with: verifier) }
        _ = try verify(try SampleDevice().proof(for: session), with: verifier)
        _ = try verify(try device.proof(for: session, ["jti": #""p-2""#]), with: verifier)
        #expect(verifier.remembered == 3)
    }

    @Test func `a proof is never good twice, however long the wait`() async throws {
        let verifier = DPoPVerifier()
        let ahead = try device.proof(for: session, ["iat": "1700000030"])
        _ = try verify(ahead, with: verifier)
        for seconds in [1, 60, 119, 120] as [Int64] {
            await expectRefusal(.proofReplayed) {
                try verify(ahead, with: verifier, at: SampleIssuer.now.advanced(bySeconds: seconds))
            }
        }
        await expectRefusal(.proofWrongTime) {
            try verify(ahead, with: verifier, at: SampleIssuer.now.advanced(bySeconds: 121))
        }
    }

    @Test func `a proof that is refused is not remembered`() async throws {
        let verifier = DPoPVerifier()
        let bound = try SampleDevice().thumbprint
        await expectRefusal(.proofMismatch) {
            try verify(try device.proof(for: session), with: verifier, boundTo: bound)
        }
        #expect(verifier.remembered == 0)
        _ = try verify(try device.proof(for: session), with: verifier)
    }

    @Test func `a proof that was checked is good until it is used, and of two uses at once one counts`() async throws {
        let verifier = DPoPVerifier()
        let proof = try device.proof(for: session)
        func check() throws -> CheckedProof {
            try verifier.check(
                proof, for: try SampleDevice.request, accessToken: session, boundTo: nil, now: SampleIssuer.now)
        }
        let (first, second) = (try check(), try check())
        #expect(verifier.remembered == 0)
        try verifier.use(first, now: SampleIssuer.now)
        await expectRefusal(.proofReplayed) { try verifier.use(second, now: SampleIssuer.now) }
        await expectRefusal(.proofReplayed) { try check() }
    }

    @Test func `a proof without one of these seconds' nonces is refused where nonces are required`() async throws {
        let secret = SecretBytes(copying: [UInt8](repeating: 7, count: 32))
        let nonces = try #require(ProofNonces(secret: secret))
        let verifier = DPoPVerifier(nonces: nonces)
        let nonce = nonces.nonce(at: SampleIssuer.now)
        func proof(_ nonce: String?, _ id: String) throws -> [UInt8] {
            try device.proof(for: session, ["jti": "\"\(id)\"", "nonce": nonce.map { "\"\($0)\"" }])
        }
        await expectRefusal(.proofWithoutNonce) { try verify(try proof(nil, "a"), with: verifier) }
        for wrong in ["", "x", nonce + "x", String(nonce.dropLast()), nonce.uppercased()] {
            await expectRefusal(.proofWithoutNonce) { try verify(try proof(wrong, "a"), with: verifier) }
        }
        let other = try #require(ProofNonces(secret: SecretBytes(copying: [UInt8](repeating: 8, count: 32))))
        await expectRefusal(.proofWithoutNonce) {
            try verify(try proof(other.nonce(at: SampleIssuer.now), "a"), with: verifier)
        }
        _ = try verify(try proof(nonce, "a"), with: verifier)
        await expectRefusal(.proofReplayed) { try verify(try proof(nonce, "a"), with: verifier) }
        // Another instance with the same secret takes it, until its slot is over.
        let second = DPoPVerifier(nonces: nonces)
        _ = try verify(try proof(nonce, "a"), with: second, at: SampleIssuer.now.advanced(bySeconds: 10))
        let late = SampleIssuer.now.advanced(bySeconds: 20)
        await expectRefusal(.proofWithoutNonce) { try verify(try proof(nonce, "b"), with: second, at: late) }
        #expect(ProofNonces(secret: SecretBytes(copying: [UInt8](repeating: 7, count: 31))) == nil)
    }

    @Test func `a key with too many proofs has to wait, and no other key`() async throws {
        let verifier = DPoPVerifier(rules: changed(DPoPRules()) { $0.rememberedByKey = 1 })
        _ = try verify(try device.proof(for: session), with: verifier)
        await expectRefusal(.tooManyProofs) {
            try verify(try device.proof(for: session, ["jti": #""2""#]), with: verifier)
        }
        _ = try verify(try SampleDevice().proof(for: session), with: verifier)
    }

    @Test func `a full memory accepts no proof, and returns when it will`() async throws {
        let verifier = DPoPVerifier(rules: changed(DPoPRules()) { $0.remembered = 2 })
        for id in 0..<2 { _ = try verify(try device.proof(for: session, ["jti": "\"\(id)\""]), with: verifier) }
        let third = try device.proof(for: session, ["jti": #""2""#])
        let later = SampleIssuer.now.advanced(bySeconds: 21)
        let error = #expect(throws: AccessRefusal.self) { try verify(third, with: verifier, at: later) }
        #expect(error?.reason == .proofMemoryFull)
        #expect(error?.answer == .later(.seconds(100)))
        await expectRefusal(.proofReplayed) {
            try verify(try device.proof(for: session, ["jti": #""0""#]), with: verifier, at: later)
        }
    }

    @Test(arguments: ["", ".", "a.b.c", "e30.e30.", "null", String(repeating: ".", count: 100_000)])
    func `garbage is no proof`(text: String) async {
        await expectRefusal(.proofMalformed) { try verify(Array(text.utf8)) }
    }

    @Test func `a duplicate claim is refused`() async throws {
        let claims =
            #"{"jti":"x","jti":"x","htm":"GET","htu":"https://remint.example/v1/apps/shop/token","iat":1700000000}"#
        let header = #"{"typ":"dpop+jwt","alg":"ES256","jwk":\#(try device.jwk)}"#
        let proof = try SampleToken.make(device.key, claims: claims, header: header)
        await expectRefusal(.proofMalformed) { try verify(proof) }
    }
}

/// The examples of RFC 9449, which Python's joserfc verifies as well.
@Suite("Proofs of RFC 9449")
struct ProofVectorTests {
    private static let header = """
        eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0RscEJo\
        RjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6IlAtMjU2In19
        """
    /// Section 7.1, figure 13.
    private static let resource = """
        \(header).eyJqdGkiOiJlMWozVl9iS2ljOC1MQUVCIiwiaHRtIjoiR0VUIiwiaHR1IjoiaHR0cHM6Ly9yZXNvdXJjZS5leGFtcGxlLm9yZy9wcm\
        90ZWN0ZWRyZXNvdXJjZSIsImlhdCI6MTU2MjI2MjYxOCwiYXRoIjoiZlVIeU8ycjJaM0RaNTNFc05yV0JiMHhXWG9hTnk1OUlpS0NBcWtzbVFFby\
        J9.2oW9RP35yRqzhrtNP86L-Ey71EOptxRimPPToA1plemAgR6pxHF8y6-yqyVnmcw6Fy1dqd-jfxSYoMxhAJpLjA
        """
    /// Section 5, figure 5: for the token endpoint, so that there is no session yet.
    private static let endpoint = """
        \(header).eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY29tL3Rva2\
        VuIiwiaWF0IjoxNTYyMjYyNjE2fQ.2-GxA6T8lP4vfrg8v-FdWP0A0zdrj8igiMLvqRMUvwnQg4PtFLbdLXiOSsX0x7NVY-FNyJK70nfbV37xRZT\
        3Lg
        """
    private static let accessToken = Array("Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU".utf8)
    private static let now = UnixTime(seconds: 1_562_262_620)

    @Test func `the example of a protected resource is taken, and bound to its key`() throws {
        let url = try #require(ComparableURL("https://resource.example.org/protectedresource"))
        let proof = try DPoPVerifier().check(
            Array(Self.resource.utf8), for: ProvenRequest(method: "GET", url: url), accessToken: Self.accessToken,
            boundTo: "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I", now: Self.now)
        #expect(proof.thumbprint == "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I")
    }

    @Test func `the example of a token endpoint proves no session`() async throws {
        let url = try #require(ComparableURL("https://server.example.com/token"))
        await expectRefusal(.proofWrongSession) {
            try DPoPVerifier().check(
                Array(Self.endpoint.utf8), for: ProvenRequest(method: "POST", url: url),
                accessToken: Self.accessToken, boundTo: nil, now: Self.now)
        }
    }
}
