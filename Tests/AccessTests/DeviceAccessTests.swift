import Access
import JOSE
import Testing

@Suite("Devices")
struct DeviceAccessTests {
    private let key: SigningKey
    private let device: SampleDevice
    private let sessions: SessionVerifier

    init() throws {
        key = try SampleIssuer.key(.es256)
        device = try SampleDevice()
        sessions = try SampleIssuer.verifier([key])
    }

    private func verify(
        _ scheme: DeviceCredentials.Scheme, _ session: [UInt8], proof: [UInt8]? = nil, requiresProof: Bool = false
    ) async throws -> Device {
        let access = DeviceAccess(sessions: sessions, proofs: DPoPVerifier(), requiresProof: requiresProof)
        let credentials = DeviceCredentials(scheme: scheme, session: session, proof: proof)
        return try await access.verify(credentials, for: try SampleDevice.request, now: SampleIssuer.now)
    }

    @Test func `who shows nothing has no session`() async throws {
        let access = DeviceAccess(sessions: sessions, proofs: DPoPVerifier())
        await expectRefusal(.noSession) {
            try await access.verify(nil, for: try SampleDevice.request, now: SampleIssuer.now)
        }
        await expectRefusal(.noSession) { try await verify(.bearer, []) }
        await expectRefusal(.noSession) { try await verify(.dpop, [], proof: []) }
    }

    @Test func `a bearer's session does where no proof is required`() async throws {
        let session = try SampleIssuer.session(key)
        let device = try await verify(.bearer, session)
        #expect(device.thumbprint == nil)
        #expect(device.callers == [.user(issuer: "https://id.example", user: "u-42")])
        await expectRefusal(.proofMissing) { try await verify(.bearer, session, requiresProof: true) }
        await expectRefusal(.proofMissing) { try await verify(.dpop, session) }
    }

    @Test func `a session that is bound to a key never does without it`() async throws {
        let thumbprint = try device.thumbprint
        let session = try SampleIssuer.session(key, ["cnf": #"{"jkt":"\#(thumbprint)"}"#])
        await expectRefusal(.proofMissing) { try await verify(.bearer, session) }
        await expectRefusal(.proofMissing) { try await verify(.dpop, session) }
        // RFC 9449, section 7.2: no way back to a bearer's token.
        await expectRefusal(.proofMissing) {
            try await verify(.bearer, session, proof: try device.proof(for: session))
        }
        let found = try await verify(.dpop, session, proof: try device.proof(for: session))
        #expect(found.thumbprint == thumbprint)
        let stolen = try SampleDevice()
        await expectRefusal(.proofMismatch) {
            try await verify(.dpop, session, proof: try stolen.proof(for: session))
        }
    }

    @Test func `a session that is bound to nothing may come with a proof, which is checked`() async throws {
        let session = try SampleIssuer.session(key)
        for scheme in [DeviceCredentials.Scheme.bearer, .dpop] {
            let found = try await verify(scheme, session, proof: try device.proof(for: session), requiresProof: true)
            #expect(found.thumbprint == (try device.thumbprint))
            #expect(found.callers.count == 2)
            await expectRefusal(.proofMalformed) { try await verify(scheme, session, proof: []) }
            let other = try SampleIssuer.session(key, ["sub": #""u-43""#])
            await expectRefusal(.proofWrongSession) {
                try await verify(scheme, session, proof: try device.proof(for: other))
            }
        }
    }

    @Test func `a proof does not mend a session`() async throws {
        let session = try SampleIssuer.session(key, ["exp": "1"])
        await expectRefusal(.expired) { try await verify(.dpop, session, proof: try device.proof(for: session)) }
    }
}
