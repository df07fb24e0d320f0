import AdapterKit
import AdapterTestSupport
import DotdigitalAdapter
import Testing

@Suite struct DotdigitalStubTests {
    private static let basic = "Basic dXNlcjpwYXNz"
    private let user = Subject(user: "u-1001", challenge: "n-1")

    private func makeStub(gone: Set<String> = [], unknown: Set<String> = []) -> DotdigitalStub {
        DotdigitalStub(StubSetting(authorization: Self.basic, gone: gone, unknown: unknown))
    }

    private func words(
        _ adapter: any StubbedAdapter, _ stub: inout DotdigitalStub, _ id: String, as basic: String? = basic
    )
        -> [String]
    {
        adapter.verdicts(of: &stub, on: [Subject(user: id, challenge: "n")], authorization: basic, at: now)
            .map(\.word)
    }

    @Test(arguments: DotdigitalLookupTests.paths.indices)
    func `Dotdigital's stub finds its users, however the id is written`(
        _ index: Int
    ) throws {
        let id = DotdigitalLookupTests.paths[index].id
        var stub = makeStub()
        #expect(words(try DotdigitalLookupTests.makeAdapter(), &stub, id) == ["exists"])
        for identifier in ["email", "mobileNumber", "loyalty card/no"] {
            #expect(words(try DotdigitalLookupTests.makeAdapter(contactBy: identifier), &stub, id) == ["exists"])
        }
    }

    @Test func `Dotdigital's stub distinguishes existing, deleted and unknown profiles, byte for byte`() throws {
        let adapter = try DotdigitalLookupTests.makeAdapter()
        var stub = makeStub(gone: ["lost"], unknown: ["new", "\u{E9}"])
        let meanings = [("u-1001", "exists"), ("lost", "gone"), ("new", "unknown"), ("\u{E9}", "unknown")]
        for (id, meaning) in meanings { #expect(words(adapter, &stub, id) == [meaning]) }
        #expect(words(adapter, &stub, "e\u{301}") == ["exists"])
    }

    @Test func `Dotdigital's stub returns a deleted profile on request alone`() throws {
        for (query, status) in [("", 404), ("?includeDeleted=false", 404), ("?includeDeleted=true", 200)] {
            var stub = makeStub(gone: ["lost"])
            let request = StubRequest(
                method: "GET", target: "/cpaas/profiles/lost" + query, headers: [("Authorization", Self.basic)])
            let answer = stub.answer(request, at: now)
            #expect(answer.status == status)
            #expect(answer.body.isEmpty == (status == 404))
        }
    }

    @Test func `Dotdigital's stub finds contacts by any identifier, and no deleted one`() throws {
        let adapter = try DotdigitalLookupTests.makeAdapter(contactBy: "contactId")
        var stub = makeStub(gone: ["8"], unknown: ["9"])
        #expect(words(adapter, &stub, "7") == ["exists"])
        #expect(words(adapter, &stub, "8") == ["unknown"])
        #expect(words(adapter, &stub, "9") == ["unknown"])
        #expect(words(adapter, &stub, "seven") == ["misconfigured"])
    }

    @Test func `Dotdigital's stub needs the API user's name and password`() throws {
        var stub = makeStub()
        for basic in [nil, "", "Basic", "Basic dXNlcjp3cm9uZw==", "Bearer dXNlcjpwYXNz"] {
            #expect(words(try DotdigitalLookupTests.makeAdapter(), &stub, "u-1001", as: basic) == ["misconfigured"])
        }
        #expect(words(try DotdigitalLookupTests.makeAdapter(), &stub, "u-1001") == ["exists"])
    }

    @Test func `Dotdigital's stub answers five requests a second, and refuses more in either of two ways`() throws {
        let adapter = try DotdigitalLookupTests.makeAdapter()
        let request = StubRequest(try #require(adapter.requests(for: [user]).first), authorization: Self.basic)
        for isOld in [false, true] {
            var stub = makeStub()
            stub.throttlesWithBadRequest = isOld
            for _ in 0..<5 { #expect(stub.answer(request, at: now).status == 200) }
            let refusal = stub.answer(request, at: now)
            #expect(refusal.status == (isOld ? 400 : 429))
            let headers = Dictionary(refusal.headers.map { ($0.name, $0.value) }) { first, _ in first }
            #expect(headers["X-RateLimit-Remaining"] == (isOld ? nil : "0"))
            #expect(headers["X-RateLimit-Reset"] == (isOld ? nil : "1"))
            #expect(adapter.words(on: LookupResponse(refusal), for: [user]) == ["throttled"])
            #expect(stub.answer(request, at: now.advanced(bySeconds: 1)).status == 200)
        }
    }

    @Test func `Dotdigital's stub answers two calls and one method`() throws {
        let requests = [
            ("GET", "/cpaas/profiles/u", 200), ("GET", "/contacts/v3/email/u", 200), ("POST", "/cpaas/profiles/u", 405),
            ("GET", "/cpaas/profiles/", 404), ("GET", "/v2/contacts/u", 404), ("GET", "", 404),
        ]
        for (method, target, status) in requests {
            var stub = makeStub()
            let request = StubRequest(method: method, target: target, headers: [("Authorization", Self.basic)])
            #expect(stub.answer(request, at: now).status == status, "\(method) \(target)")
        }
    }

    @Test func `Dotdigital's stub is the one the adapter makes`() throws {
        let stub = try DotdigitalLookupTests.makeAdapter().stub(StubSetting(authorization: Self.basic))
        #expect(stub is DotdigitalStub)
    }
}
