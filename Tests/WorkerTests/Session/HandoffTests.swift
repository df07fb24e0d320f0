import Testing

@testable import Worker

@Suite struct HandoffTests {
    @Test func `hands a message over once`() {
        let mailbox = Handoff<Int>()
        #expect(mailbox.take() == nil)
        mailbox.put(1)
        #expect(mailbox.take() == 1)
        #expect(mailbox.take() == nil)
    }
}
