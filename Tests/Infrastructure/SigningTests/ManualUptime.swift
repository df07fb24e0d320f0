import AdapterKit
import AsyncTestSupport
import Foundation
import JOSE
import Keyring
import Logging
import NIOCore
import NIOPosix
import Pipeline
import Synchronization
import Testing
import WorkerConfiguration
import WorkerTestSupport

@testable import Signing

/// A signer's uptime, which a test moves.
final class ManualUptime: Sendable {
    private struct State {
        var uptime = Duration.zero
        var sleepers: [Int: CheckedContinuation<Void, any Error>] = [:]
        var lastSleeper = 0
        var watchers: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    var clock: SignerClock {
        SignerClock(
            now: { SignerBench.now }, uptime: { self.state.withLock { $0.uptime } },
            sleep: { _ in try await self.sleep() })
    }

    /// Lets `duration` pass, once somebody waits for it, and wakes everybody.
    func pass(_ duration: Duration) async {
        await withCheckedContinuation { watcher in
            let isAwaited = state.withLock { state in
                if state.sleepers.isEmpty { state.watchers.append(watcher) }
                return !state.sleepers.isEmpty
            }
            if isAwaited { watcher.resume() }
        }
        let sleepers = state.withLock { state in
            state.uptime += duration
            defer { state.sleepers = [:] }
            return state.sleepers.values.map { $0 }
        }
        for sleeper in sleepers { sleeper.resume() }
    }

    private func sleep() async throws {
        let number = state.withLock { state in
            state.lastSleeper += 1
            return state.lastSleeper
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { sleeper in
                let watchers = state.withLock { state -> [CheckedContinuation<Void, Never>]? in
                    guard !Task.isCancelled else { return nil }
                    state.sleepers[number] = sleeper
                    defer { state.watchers = [] }
                    return state.watchers
                }
                guard let watchers else { return sleeper.resume(throwing: CancellationError()) }
                for watcher in watchers { watcher.resume() }
            }
        } onCancel: {
            state.withLock { $0.sleepers.removeValue(forKey: number) }?.resume(throwing: CancellationError())
        }
    }
}
