import AdapterKit
import AdapterTestSupport
import OneSignalAdapter
import Testing

@Suite struct OneSignalStubTests {
    private static let key = Result { try SigningKey.generate(.es256) }
    private let user = Subject(user: "u-1001")

    private func makeAdapter(_ authorization: String = "minted_jwt", app: String = "A") throws -> any StubbedAdapter {
        try AdapterTestSupport.makeAdapter(
            OneSignalAdapter.self, #"{"app_id":"\#(app)","lookup_auth":"\#(authorization)"}"#)
    }

    private func makeStub(_ adapter: any StubbedAdapter, gone: Set<String> = [], unknown: Set<String> = []) throws
        -> any VendorStub
    {
        let setting = StubSetting(
            authorization: "Key k-1", keys: [try Self.key.get().verificationKey], gone: gone, unknown: unknown)
        return try #require(adapter.stub(setting))
    }

    private func bearer(_ adapter: any StubbedAdapter, _ user: Subject, key: SigningKey? = nil) throws -> String {
        let key = try key ?? Self.key.get()
        return "Bearer " + String(decoding: try adapter.token(for: user, key: key), as: UTF8.self)
    }

    @Test(arguments: OneSignalLookupTests.paths.indices)
    func `OneSignal's stub finds its users, however the id is written`(
        _ index: Int
    ) throws {
        let adapter = try makeAdapter()
        let subject = Subject(user: OneSignalLookupTests.paths[index].id)
        for mode in [LookupMode.verify, .enrich] {
            var stub = try makeStub(adapter)
            let verdicts = adapter.verdicts(
                of: &stub, on: [subject], mode: mode, authorization: try bearer(adapter, subject), at: now)
            #expect(verdicts.map(\.word) == ["exists"])
        }
    }

    @Test func `OneSignal's stub does not find gone or unknown users, byte for byte`() throws {
        let adapter = try makeAdapter()
        let meanings = [
            ("u-1001", "exists"), ("lost", "unknown"), ("new", "unknown"), ("\u{E9}", "unknown"),
            ("e\u{301}", "exists"),
        ]
        for (id, meaning) in meanings {
            let subject = Subject(user: id)
            var stub = try makeStub(adapter, gone: ["lost"], unknown: ["new", "\u{E9}"])
            let verdicts = adapter.verdicts(
                of: &stub, on: [subject], authorization: try bearer(adapter, subject), at: now)
            #expect(verdicts.map(\.word) == [meaning])
        }
    }

    @Test func `OneSignal's stub needs a live token of that user, that app and that key`() throws {
        let adapter = try makeAdapter()
        let good = try bearer(adapter, user)
        let later = now.advanced(bySeconds: 3600)
        let refused: [(String?, UnixTime)] = [
            (nil, now), ("", now), ("Bearer ", now), ("Bearer x", now), ("Key k-1", now), (good, later),
            (try bearer(adapter, Subject(user: "u-1002")), now), (try bearer(makeAdapter(app: "B"), user), now),
            (try bearer(adapter, user, key: SigningKey.generate(.es256)), now),
        ]
        for (authorization, time) in refused {
            var stub = try makeStub(adapter)
            let verdicts = adapter.verdicts(of: &stub, on: [user], authorization: authorization, at: time)
            #expect(verdicts.map(\.word) == ["misconfigured"])
        }
        var stub = try makeStub(adapter)
        let verdicts = adapter.verdicts(
            of: &stub, on: [user], authorization: good, at: later.advanced(bySeconds: -1))
        #expect(verdicts.map(\.word) == ["exists"])
    }

    @Test func `OneSignal's stub accepts the key alone where the app's settings choose it`() throws {
        let adapter = try makeAdapter("key")
        let authorizations = [
            ("Key k-1", "exists"), ("Key k-2", "misconfigured"), ("Bearer k-1", "misconfigured"),
            (try bearer(adapter, user), "misconfigured"),
        ]
        for (authorization, meaning) in authorizations {
            var stub = try makeStub(adapter)
            let verdicts = adapter.verdicts(of: &stub, on: [user], authorization: authorization, at: now)
            #expect(verdicts.map(\.word) == [meaning])
        }
    }

    @Test func `OneSignal's stub answers one request a second`() throws {
        let adapter = try makeAdapter()
        var stub = try makeStub(adapter)
        let request = StubRequest(
            try #require(adapter.requests(for: [user]).first), authorization: try bearer(adapter, user))
        #expect(stub.answer(request, at: now).status == 200)
        let refusal = stub.answer(request, at: now.advanced(byMicroseconds: 999_999))
        #expect(refusal.status == 429)
        #expect(refusal.headers.first { $0.name == "retry-after" }?.value == "1")
        #expect(String(decoding: refusal.body, as: UTF8.self) == #"{"errors":["API rate limit exceeded."]}"#)
        #expect(adapter.words(on: LookupResponse(refusal), for: [user]) == ["throttled"])
        #expect(stub.answer(request, at: now.advanced(bySeconds: 1)).status == 200)
    }

    @Test func `OneSignal's stub answers two paths and one method`() throws {
        let adapter = try makeAdapter("key")
        let requests = [
            ("GET", "/apps/A/users/by/external_id/u", 200), ("GET", "/apps/A/users/by/external_id/u/identity", 200),
            ("POST", "/apps/A/users/by/external_id/u", 404), ("GET", "/apps/A/users/by/onesignal_id/u", 404),
            ("GET", "/apps/A/users/by/external_id/u/tags", 404), ("GET", "/apps/A/users/by/external_id/", 404),
            ("GET", "/", 404), ("GET", "", 404), ("GET", "/apps/B/users/by/external_id/u", 401),
        ]
        for (method, target, status) in requests {
            var stub = try makeStub(adapter)
            let request = StubRequest(method: method, target: target, headers: [("Authorization", "Key k-1")])
            #expect(stub.answer(request, at: now).status == status, "\(method) \(target)")
        }
    }
}
