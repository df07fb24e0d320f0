import Formats
import Foundation
public import Kafka
import Synchronization
public import WorkerConfiguration

/// The desks of this process: all its clients with the same settings share one desk. A desk without references is gone.
public enum SharedDesks {
    /// A desk and its counts.
    public struct Entry: Sendable {
        /// The desk where clients get their tokens.
        public let desk: BearerDesk
        /// The counts of the tokens that the desk got.
        public let tally: TokenTally
    }

    private struct Weak {
        weak var desk: BearerDesk?
        let tally: TokenTally
    }

    private static let desks = Mutex<[Configuration.OAuth: Weak]>([:])

    private static let clock: @Sendable () -> UnixTime = {
        UnixTime(microseconds: Int64(Date.now.timeIntervalSince1970 * 1_000_000))
    }

    /// Returns the desk for `settings`.
    ///
    /// - Parameter environment: returns a variable of the environment, where AWS's credentials may be.
    public static func entry(
        for settings: Configuration.OAuth, environment: @escaping @Sendable (String) -> String?
    ) -> Entry {
        desks.withLock { desks in
            // A process that reads many configurations keeps nothing of those it is done with.
            desks = desks.filter { $0.value.desk != nil || $0.key == settings }
            if let known = desks[settings], let desk = known.desk { return Entry(desk: desk, tally: known.tally) }
            // Its counts go on where they were.
            let tally = desks[settings]?.tally ?? TokenTally()
            let keeper = TokenKeeper(
                source: TokenSources.source(for: settings, environment: environment), tally: tally, now: Self.clock,
                draw: { .random(in: 0...1) })
            let desk = BearerDesk { await keeper.run($0, $1) }
            desks[settings] = Weak(desk: desk, tally: tally)
            return Entry(desk: desk, tally: tally)
        }
    }
}
