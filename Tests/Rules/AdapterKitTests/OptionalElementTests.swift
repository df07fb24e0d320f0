import AdapterKit
import Testing

/// Elements of an array that a token may lack.
@Suite struct OptionalElementTests {
    private func element(_ name: String) -> Claim.Value {
        .ifFound(name, .object([Claim("kind", .constant(name)), Claim("value", .vouched(name))]))
    }

    /// Returns the claim of a token for which the edge vouches for `found`.
    private func claims(_ values: [Claim.Value], _ found: [String]) throws -> String {
        let recipe = Recipe(
            algorithm: .hs256, header: Recipe.typeOnly,
            claims: [Claim("ids", .array(values)), Claim("exp", .expiresAt)],
            lifetime: LifetimeBounds(standard: 60, allowed: 60...60))
        let grants = Enrichment(Dictionary(uniqueKeysWithValues: found.map { ($0, Array("\"\($0)!\"".utf8)) }))
        var random = SystemRandomNumberGenerator()
        let form = try TokenForm(recipe, keyID: nil, valid: Validity(from: 1, to: 61)).valid(Validity(from: 2, to: 62))
        return String(
            decoding: try form.claims(for: Subject(user: "u1"), adding: grants, random: &random), as: UTF8.self)
    }

    @Test func `an array has the elements for which the edge vouches, in their order, whichever are missing`() throws {
        let names = ["a", "b", "c"]
        for missing in 0..<8 {
            let found = names.enumerated().filter { missing & (1 << $0.offset) == 0 }.map(\.element)
            let elements = found.map { #"{"kind":"\#($0)","value":"\#($0)!"}"# }
            #expect(
                try claims(names.map(element), found) == #"{"ids":[\#(elements.joined(separator: ","))],"exp":62}"#)
            let all = [#""first""#] + elements + ["2"]
            #expect(
                try claims([.constant("first")] + names.map(element) + [.issuedAt], found)
                    == #"{"ids":[\#(all.joined(separator: ","))],"exp":62}"#)
        }
    }

    @Test func `an element that is left out takes nothing of its neighbors with it`() throws {
        let nested = Claim.Value.array([.array([element("a")]), element("b"), .array([])])
        #expect(try claims([nested], []) == #"{"ids":[[[],[]]],"exp":62}"#)
        #expect(try claims([nested], ["b"]) == #"{"ids":[[[],{"kind":"b","value":"b!"},[]]],"exp":62}"#)
        let needed = Claim.Value.object([Claim("value", .vouched("z"))])
        let error = #expect(throws: Rejection.self) { try claims([element("a"), needed], ["a"]) }
        #expect(error?.code == .missingVouched)
    }
}
