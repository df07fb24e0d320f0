import Synchronization
import Testing

@testable import Pickup

/// Sealed tokens, as answers have them.
@Suite struct OpenedTokensTests {
    private static func token(_ text: String, isSealed: Bool = true) -> HeldToken {
        HeldToken(text: Array(text.utf8), isSealed: isSealed, version: 1, expiresAt: 2)
    }

    @Test func `a sealed token is opened once for all answers, and a token in the clear never`() async throws {
        let opened = Mutex<[String]>([])
        let tokens = OpenedTokens { sealed in
            opened.withLock { $0.append(String(decoding: sealed, as: UTF8.self)) }
            return "open"
        }
        await withDiscardingTaskGroup { group in
            for _ in 0..<20 { group.addTask { #expect(throws: Never.self) { try tokens.text(of: Self.token("a")) } } }
        }
        #expect(try tokens.text(of: Self.token("b")) == "open")
        #expect(try tokens.text(of: Self.token("c", isSealed: false)) == "c")
        #expect(opened.withLock { $0 } == ["a", "b"])
        for number in 0..<2100 { _ = try tokens.text(of: Self.token("\(number)")) }
        _ = try tokens.text(of: Self.token("a"))
        #expect(opened.withLock { $0.count } == 2103, "the memory is bounded")
    }

    @Test func `a token that is sealed for another recipient is a problem`() {
        #expect(throws: Problem.self) { try OpenedTokens { _ in nil }.text(of: Self.token("a")) }
    }
}
