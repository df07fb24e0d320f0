import AdapterKit
import Testing

/// Claims whose names are put together.
@Suite struct SiblingNameTests {
    private func claims(_ user: String, _ claims: [Claim], keyID: String? = "k") throws -> String {
        let recipe = Recipe(
            algorithm: .hs256, header: Recipe.typeOnly, claims: claims,
            lifetime: LifetimeBounds(standard: 60, allowed: 60...60))
        var random = SystemRandomNumberGenerator()
        let form = try TokenForm(recipe, keyID: keyID, valid: Validity(from: 86_400, to: 86_460)).valid(
            Validity(from: 172_800, to: 172_860))
        return String(decoding: try form.claims(for: Subject(user: user), random: &random), as: UTF8.self)
    }

    private let room = Claim("a room", of: [.user], .json(Array("true".utf8)))

    @Test func `a user's id cannot write another claim a second time`() throws {
        #expect(try claims("ann", [Claim("exp", .expiresAt), room]) == #"{"exp":172860,"ann":true}"#)
        for user in ["exp", "sub", "extra"] {
            let all = [Claim("exp", .expiresAt), room, Claim("sub", .user), Claim("extra", .enrichment("extra"))]
            let error = #expect(throws: Rejection.self) { try claims(user, all) }
            #expect(error?.code == .malformedReport, "a retry would not help")
            #expect(error?.detail.contains(user) == false)
        }
    }

    @Test func `two names of claims that are put together must differ`() throws {
        let left = Claim("left", of: [.user, .constant("a")], .json(Array("1".utf8)))
        let right = Claim("right", of: [.constant("a"), .user], .json(Array("2".utf8)))
        #expect(try claims("b", [left, right]) == #"{"ba":1,"ab":2}"#)
        #expect(throws: Rejection.self) { try claims("a", [left, right]) }
    }

    @Test func `names are compared object by object, with key, day and URL filled in`() throws {
        let nested = Claim("grants", .object([Claim("exp", .constant("x")), room]))
        #expect(try claims("sub", [Claim("sub", .user), nested]) == #"{"sub":"sub","grants":{"exp":"x","sub":true}}"#)
        #expect(throws: Rejection.self) { try claims("exp", [nested]) }
        let key = Claim("key", of: [.keyID], .json(Array("1".utf8)))
        #expect(throws: Rejection.self) { try claims("k", [key, room]) }
        let day = Claim("day", of: [.date], .json(Array("1".utf8)))
        #expect(throws: Rejection.self) { try claims("19700103", [day, room]) }
        let url = Claim("url", of: [.constant("//h/"), .userInURL], .json(Array("1".utf8)))
        #expect(try claims("a/b", [url]) == #"{"//h/a%2Fb":1}"#)
    }
}
