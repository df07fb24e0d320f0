import Testing

@testable import Worker

@Suite struct HandoffTests {
    @Test func `a message is handed over once`() {
        let handoff = Handoff<Int>()
        #expect(handoff.take() == nil)
        handoff.put(1)
        #expect(handoff.take() == 1)
        #expect(handoff.take() == nil)
    }
}
