import AsyncTestSupport
import Foundation
import Logging
import Testing
import WorkerTestSupport

@testable import Worker

@Suite struct KeyProtectionTests {
    @Test func `core dumps are forbidden for good`() async {
        await #expect(processExitsWith: .success) {
            let log = RecordingLog()
            let protection = KeyProtection()
            var limit = rlimit(rlim_cur: 7, rlim_max: 7)
            getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
            #expect(limit.rlim_cur == 0 && limit.rlim_max == 0)
            protection.report(to: log.logger())
            // Whether pages can be locked is the machine's affair.
            #expect(!log.lines.contains { $0.metadata["remint.detail"]?.contains("traced") == true })
        }
    }

    @Test func `missing protections of the keys are listed once each`() {
        #expect(KeyProtection.gaps([], refusedLocks: 0) == [])
        #expect(KeyProtection.gaps([.tracing], refusedLocks: 3) == [.tracing, .swap])
    }
}
