import Formats
import Foundation
package import Kafka
import Synchronization
package import WorkerConfiguration

/// The token providers of this process. All clients with the same settings share one provider, which lives as long as
/// its references.
package enum SharedTokenProviders {
    /// A provider and its counts.
    package struct Entry: Sendable {
        /// The provider that clients get their tokens from.
        package let provider: BearerTokenProvider
        /// The counts of the tokens that the provider got.
        package let tally: TokenTally
    }

    private struct Weak {
        weak var provider: BearerTokenProvider?
        let tally: TokenTally
    }

    private static let providers = Mutex<[Configuration.OAuth: Weak]>([:])

    private static let clock: @Sendable () -> UnixTime = {
        UnixTime(microseconds: Int64(Date.now.timeIntervalSince1970 * 1_000_000))
    }

    /// Returns the provider for `settings`.
    ///
    /// - Parameter environment: returns a variable of the environment, where AWS's credentials may be.
    package static func entry(
        for settings: Configuration.OAuth, environment: @escaping @Sendable (String) -> String?
    ) -> Entry {
        providers.withLock { providers in
            // A process that reads many configurations keeps nothing of those it is done with.
            providers = providers.filter { $0.value.provider != nil || $0.key == settings }
            if let known = providers[settings], let provider = known.provider {
                return Entry(provider: provider, tally: known.tally)
            }
            // Its counts go on where they were.
            let tally = providers[settings]?.tally ?? TokenTally()
            let supplier = TokenSupplier(
                source: TokenSources.source(for: settings, environment: environment), tally: tally, now: Self.clock,
                draw: { .random(in: 0...1) })
            let provider = BearerTokenProvider { await supplier.run($0, $1) }
            providers[settings] = Weak(provider: provider, tally: tally)
            return Entry(provider: provider, tally: tally)
        }
    }
}
