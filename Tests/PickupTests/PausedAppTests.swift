import AdapterKit
import Pipeline
import Synchronization
import Testing

@testable import Pickup

/// An app whose events wait, as the gateway sees it.
@Suite struct PausedAppTests {
    @Test func `a pause with an end ends by itself, without a word of the control topic`() {
        let start = UnixTime(seconds: 1_800_000_000)
        let clock = Mutex(start)
        let desk = TokenDesk(capacity: 1 << 20) { clock.withLock { $0 } }
        desk.held("shop", Suspension(app: "shop", cause: .paused, since: start, until: start.advanced(bySeconds: 600)))
        desk.held("other", Suspension(app: "other", cause: .paused, since: start))
        #expect(desk.suspension(of: "shop")?.cause == .paused)
        clock.withLock { $0 = start.advanced(bySeconds: 600) }
        #expect(desk.suspension(of: "shop") == nil)
        #expect(desk.suspension(of: "other") != nil, "one without an end stays")
    }
}
