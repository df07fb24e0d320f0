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
        let access = DeviceAccess(sessions: [sessions], proofs: DPoPVerifier(), requiresProof: requiresProof)
        let credentials = DeviceCredentials(scheme: scheme, session: session, proof: proof)
        return try await access.verify(credentials, for: try SampleDevice.request, now: SampleIssuer.now)
    }

    @Test func `a device that presents no session is refused with no_session`() async throws {
        let access = DeviceAccess(sessions: [sessions], proofs: DPoPVerifier())
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
        #expect(device.callers.isEmpty)
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
            let found = try await verify(scheme, session, proof: try device.proof(for: session))
            #expect(found.thumbprint == (try device.thumbprint))
            #expect(found.callers == [.device(thumbprint: try device.thumbprint)])
            // A thief of the session would prove a key of the thief's own (RFC 9449, section 7.1).
            await expectRefusal(.notBound) {
                try await verify(scheme, session, proof: try device.proof(for: session), requiresProof: true)
            }
            await expectRefusal(.proofMalformed) { try await verify(scheme, session, proof: []) }
            let other = try SampleIssuer.session(key, ["sub": #""u-43""#])
            await expectRefusal(.proofWrongSession) {
                try await verify(scheme, session, proof: try device.proof(for: other))
            }
        }
    }

    @Test func `a proof does not make up for a bad session`() async throws {
        let session = try SampleIssuer.session(key, ["exp": "1"])
        await expectRefusal(.expired) { try await verify(.dpop, session, proof: try device.proof(for: session)) }
    }

    @Test func `a proof is used up when the request is admitted, and no sooner`() async throws {
        let access = DeviceAccess(sessions: [sessions], proofs: DPoPVerifier())
        let session = try SampleIssuer.session(key)
        let credentials = DeviceCredentials(scheme: .dpop, session: session, proof: try device.proof(for: session))
        func verify() async throws -> Device {
            try await access.verify(credentials, for: try SampleDevice.request, now: SampleIssuer.now)
        }
        _ = try await verify()
        let found = try await verify()
        try access.use(found, now: SampleIssuer.now)
        await expectRefusal(.proofReplayed) { try await verify() }
    }

    @Test func `a session is known once it was found good, and a forged one never`() async throws {
        let access = DeviceAccess(sessions: [sessions], proofs: DPoPVerifier())
        let (good, forged) = (try SampleIssuer.session(key), try SampleIssuer.session(try SampleIssuer.key(.es256)))
        for (session, isGood) in [(good, true), (forged, false)] {
            #expect(access.knownCaller(session, now: SampleIssuer.now) == nil)
            let credentials = DeviceCredentials(scheme: .bearer, session: session)
            _ = try? await access.verify(credentials, for: try SampleDevice.request, now: SampleIssuer.now)
            #expect((access.knownCaller(session, now: SampleIssuer.now) != nil) == isGood)
        }
    }

    @Test(.timeLimit(.minutes(5))) func `a session whose key is withdrawn counts no longer, though it was found good`()
        async throws
    {
        let (clock, fetches) = (ManualClock(), ManualCall<Void, KeySetDocument>())
        let pauses = ManualCall<Duration, Void>()
        let keys = FetchedKeys(
            algorithms: SampleIssuer.rules.algorithms, now: { clock.now }, pause: { try await pauses.make($0) },
            fetch: { try await fetches.make(()) })
        let running = Task { await keys.run() }
        let access = DeviceAccess(
            sessions: [SessionVerifier(rules: SampleIssuer.rules, keys: keys)], proofs: DPoPVerifier())
        let old = try SampleIssuer.session(key)
        func verify(_ session: [UInt8]) async throws -> Session {
            let credentials = DeviceCredentials(scheme: .bearer, session: session)
            return try await access.verify(credentials, for: try SampleDevice.request, now: SampleIssuer.now).session
        }
        await fetches.next()
        fetches.answer(.success(KeySetDocument(bytes: try SampleIssuer.document([key]))))
        _ = await pauses.next()
        let session = try await verify(old)
        #expect(!access.isWithdrawn(session))
        // The issuer has another key under the same id: a session of it makes the gateway look.
        let other = try SampleIssuer.key(.es256)
        clock.advance(by: .seconds(31))
        let later = Task { try await verify(try SampleIssuer.session(other)) }
        await fetches.next()
        fetches.answer(.success(KeySetDocument(bytes: try SampleIssuer.document([other]))))
        #expect(try await later.value.user(by: "sub") == "u-42")
        #expect(access.isWithdrawn(session))
        // A bad signature within the cool-down is no reason for another fetch, and no verdict.
        await expectRefusal(.keysUnavailable) { try await verify(old) }
        #expect(fetches.count == 2)
        running.cancel()
        await running.value
    }

    @Test func `a session opens the apps whose issuer, audience and kind it has, by the claim of each`() async throws {
        let agents = try SampleIssuer.key(.es256, "agents")
        var rules = SessionRules(issuer: "https://support.example", audience: "support", userClaims: ["agent"])
        rules.name = "sessions.agents"
        var own = SampleIssuer.rules
        own.userClaims = ["sub", "customer"]
        own.audiences = ["shop", "club"]
        let access = DeviceAccess(
            sessions: [
                try SampleIssuer.verifier([key], rules: own), try SampleIssuer.verifier([agents], rules: rules),
            ], proofs: DPoPVerifier())
        func session(_ token: [UInt8]) async throws -> Session {
            let credentials = DeviceCredentials(scheme: .bearer, session: token)
            return try await access.verify(credentials, for: try SampleDevice.request, now: SampleIssuer.now).session
        }
        let customer = try await session(
            try SampleIssuer.session(key, ["sub": #""17""#, "customer": #""c-17""#, "agent": #""17""#]))
        let agent = try await session(
            try SampleIssuer.session(
                agents, ["iss": #""https://support.example""#, "aud": #"["support","shop","club"]"#, "agent": #""17""#])
        )
        func way(_ kind: String, _ issuer: String, _ audience: String?, _ claim: String) -> [SessionWay] {
            [SessionWay(kind: kind, issuer: issuer, audience: audience, claim: claim)]
        }
        let shop = way("session", "https://id.example", "shop", "sub")
        let support = way("sessions.agents", "https://support.example", "support", "agent")
        #expect(try SessionWay.user(of: customer, by: shop) == "17")
        #expect(try SessionWay.user(of: agent, by: support) == "17")
        #expect(try SessionWay.user(of: customer, by: way("session", "https://id.example", nil, "customer")) == "c-17")
        await expectRefusal(.appNotOpened) { try SessionWay.user(of: customer, by: support) }
        await expectRefusal(.appNotOpened) { try SessionWay.user(of: agent, by: shop) }
        await expectRefusal(.appNotOpened) { try SessionWay.user(of: customer, by: []) }
        await expectRefusal(.appNotOpened, "an audience that it does not name") {
            try SessionWay.user(of: customer, by: way("session", "https://id.example", "club", "sub"))
        }
        await expectRefusal(.appNotOpened, "a kind whose keys did not sign it") {
            try SessionWay.user(of: agent, by: way("session", "https://support.example", nil, "agent"))
        }
        await expectRefusal(.noUser) {
            try SessionWay.user(of: customer, by: way("session", "https://id.example", nil, "agent"))
        }
        await expectRefusal(.badSignature, "an issuer's name on another's key") {
            try await session(
                try SampleIssuer.session(
                    key, ["iss": #""https://support.example""#, "aud": #""support""#, "agent": #""1""#],
                    header: ["kid": #""agents""#]))
        }
    }
}

extension DeviceAccess {
    /// Returns the device with `credentials`, as a call's steps determine it.
    fileprivate func verify(
        _ credentials: DeviceCredentials?, for request: ProvenRequest, now: UnixTime
    ) async throws(AccessRefusal) -> Device {
        let session = try await session(of: credentials, now: now)
        guard let credentials else { throw .noSession }
        return try device(credentials, of: session, for: request, now: now)
    }
}
