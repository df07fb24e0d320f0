import AsyncTestSupport
// Nearly every scenario runs commands, so one line imports them for all files.
@_exported import CommandTestSupport
import Testing

// Whole stories. A story mostly waits: for a broker, a lifetime, a back-off.

/// Lets few tests of its suites run at once, however many the run allows: each of them has some programs.
private struct FewAtOnce: SuiteTrait, TestTrait, TestScoping {
    private static let permits = Permits(8)
    let isRecursive = true

    /// A test waits before its cases begin, because the time of a case counts.
    func scopeProvider(for test: Test, testCase: Test.Case?) -> FewAtOnce? {
        test.isSuite || testCase != nil ? nil : self
    }

    @concurrent func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await Self.permits.withPermit(function)
    }
}

extension Trait where Self == FewAtOnce {
    /// Few at once.
    fileprivate static var few: FewAtOnce { FewAtOnce() }
}

/// The worker's treatment of events, and its cost.
@Suite(.few) enum Scenarios {}

/// The operators' work: commands, batch jobs, dead letters, pauses.
@Suite(.few) enum OperatorScenarios {}

/// Commands that need their process, a broker or a worker: first configurations, connections, closed pipes.
@Suite(.few) enum CommandScenarios {}

/// Keys: guarded, held by a signer, rotated, leaked, believed by others.
@Suite(.few) enum KeyScenarios {}

/// Campaigns: rotations, canaries, revocations, and those who run them.
@Suite(.few) enum CampaignScenarios {}

/// Devices and vendors: what they report, look up and answer.
@Suite(.few) enum DeviceScenarios {}

/// The gateway where devices pick their tokens up.
@Suite(.few) enum GatewayScenarios {}

/// The clients of the gateway. They spend their time waiting for the gateway, so they run at the same time.
@Suite enum ClientScenarios {}
