import AdapterKit
import AdapterTestSupport
import InfobipAdapter
import Testing

@Suite struct InfobipStubTests {
    private static let adapter = Result { try makeAdapter(InfobipAdapter.self, #"{"application_code":"A"}"#) }
    private static let key = "App k-1"

    private func makeStub(gone: Set<String> = [], unknown: Set<String> = []) -> InfobipStub {
        InfobipStub(StubSetting(authorization: Self.key, gone: gone, unknown: unknown))
    }

    private func words(_ stub: inout InfobipStub, _ ids: [String], as key: String? = key) throws -> [String] {
        try Self.adapter.get()
            .verdicts(of: &stub, on: ids.map { Subject(user: $0) }, authorization: key, at: now).map(\.word)
    }

    @Test(arguments: InfobipLookupTests.ids.indices) func `Infobip's stub finds its users, however the id is written`(
        _ index: Int
    )
        throws
    {
        let id = InfobipLookupTests.ids[index].id
        var stub = makeStub()
        #expect(try words(&stub, [id]) == ["exists"])
        #expect(try words(&stub, [id, "b", "", "c"]) == ["exists", "exists", "unknown", "exists"])
    }

    @Test(arguments: InfobipStub.MissingPerson.allCases)
    func `Infobip's stub does not find gone or unknown users, byte for byte`(_ answer: InfobipStub.MissingPerson) throws
    {
        let meanings = [
            ("u-1", "exists"), ("lost", "unknown"), ("new", "unknown"), ("\u{E9}", "unknown"), ("e\u{301}", "exists"),
        ]
        var stub = makeStub(gone: ["lost"], unknown: ["new", "\u{E9}"])
        stub.missingPerson = answer
        for (id, meaning) in meanings { #expect(try words(&stub, [id]) == [meaning]) }
        #expect(try words(&stub, meanings.map(\.0)) == meanings.map(\.1))
    }

    @Test func `Infobip's stub answers for a missing person in either of two ways`() throws {
        let request = StubRequest(
            try #require(Self.adapter.get().requests(for: [Subject(user: "new")]).first), authorization: Self.key)
        var stub = makeStub(unknown: ["new"])
        let refusal = stub.answer(request, at: now)
        #expect(refusal.status == 404)
        #expect(
            String(decoding: refusal.body, as: UTF8.self)
                == #"{"requestError":{"serviceException":{"messageId":"NOT_FOUND","text":"Person not found"}}}"#)
        stub.missingPerson = .otherPerson
        let other = stub.answer(request, at: now)
        #expect(other.status == 200)
        #expect(try JSONDocument(parsing: other.body).root["externalId"]?.string == "new-other")
    }

    @Test func `Infobip's stub needs the API key and its scope`() throws {
        for ids in [["u-1"], ["u-1", "u-2"]] {
            let misconfigured = ids.map { _ in "misconfigured" }
            var stub = makeStub()
            for key in [nil, "", "App", "App k-2", "Bearer k-1", "app k-1"] {
                #expect(try words(&stub, ids, as: key) == misconfigured)
            }
            #expect(try words(&stub, ids) == ids.map { _ in "exists" })
            stub.hasScope = false
            #expect(try words(&stub, ids) == misconfigured)
        }
    }

    @Test(arguments: [(1, 5), (2, 15)]) func `Infobip's stub answers a limited number of requests a second`(
        _ users: Int, _ allowed: Int
    ) throws {
        let adapter = try Self.adapter.get()
        let subjects = (0..<users).map { Subject(user: "u-\($0)") }
        let request = StubRequest(try #require(adapter.requests(for: subjects).first), authorization: Self.key)
        var stub = makeStub()
        for _ in 0..<allowed { #expect(stub.answer(request, at: now).status == 200) }
        let refusal = stub.answer(request, at: now.advanced(byMicroseconds: 999_999))
        #expect(refusal.status == 429)
        #expect(refusal.headers.first { $0.name == "retry-after" }?.value == "1")
        #expect(adapter.words(on: LookupResponse(refusal), for: subjects) == subjects.map { _ in "throttled" })
        #expect(stub.answer(request, at: now.advanced(bySeconds: 1)).status == 200)
    }

    /// Requests our adapter never makes: the real API would list everyone for some of them.
    private static let refused: [(method: String, target: String, body: String, status: Int)] = [
        ("GET", "/people/2/persons?identifier=&type=EXTERNAL_ID", "", 400),
        ("GET", "/people/2/persons?type=EXTERNAL_ID", "", 400), ("GET", "/people/2/persons", "", 400),
        ("GET", "/people/2/persons?identifier=u-1", "", 400),
        ("GET", "/people/2/persons?identifier=u-1&type=PHONE", "", 400),
        ("POST", "/people/2/persons/match", "", 400), ("POST", "/people/2/persons/match", "{}", 400),
        ("POST", "/people/2/persons/match", #"{"identities":[]}"#, 400),
        ("POST", "/people/2/persons/match", #"{"identities":[{"type":"EXTERNAL_ID","identifier":""}]}"#, 400),
        ("POST", "/people/2/persons/match", #"{"identities":[{"type":"PHONE","identifier":"1"}]}"#, 400),
        ("POST", "/people/2/persons?identifier=u-1&type=EXTERNAL_ID", "", 404), ("GET", "", "", 404),
        ("DELETE", "/people/2/persons", "", 404),
    ]

    @Test(arguments: refused.indices) func `Infobip's stub refuses an empty identifier and an unknown call`(
        _ index: Int
    ) {
        let (method, target, body, status) = Self.refused[index]
        var stub = makeStub()
        let request = StubRequest(
            method: method, target: target, headers: [("Authorization", Self.key)], body: Array(body.utf8))
        #expect(stub.answer(request, at: now).status == status)
    }

    @Test func `Infobip's stub refuses more identities than a match is asked for`() {
        let identities = (0..<51).map { #"{"type":"EXTERNAL_ID","identifier":"u-\#($0)"}"# }.joined(separator: ",")
        var stub = makeStub()
        let request = StubRequest(
            method: "POST", target: "/people/2/persons/match", headers: [("Authorization", Self.key)],
            body: Array("{\"identities\":[\(identities)]}".utf8))
        #expect(stub.answer(request, at: now).status == 400)
    }

    @Test func `Infobip's stub is the one the adapter makes`() throws {
        #expect(try Self.adapter.get().stub(StubSetting(authorization: Self.key)) is InfobipStub)
    }
}
