package import Formats
import HTTPTransport
package import Kafka
package import Logging
import Synchronization
import Telemetry

/// Keeps a provider supplied: gets tokens from their source by the schedule, and hands them out.
package struct TokenSupplier: Sendable {
    let source: any TokenSource
    let tally: TokenTally
    let now: @Sendable () -> UnixTime
    /// A random number from 0 to 1.
    let draw: @Sendable () -> Double

    /// The time between two looks at a source's revision.
    private static let interval = Duration.seconds(2)
    /// The longest time between two looks at the clock: a machine that slept finds its tokens old.
    private static let longestWait = Duration.seconds(30)

    package init(
        source: any TokenSource, tally: TokenTally, now: @escaping @Sendable () -> UnixTime,
        draw: @escaping @Sendable () -> Double
    ) {
        self.source = source
        self.tally = tally
        self.now = now
        self.draw = draw
    }

    /// Supplies `provider` until the task is canceled.
    @concurrent
    package func run(_ provider: BearerTokenProvider, _ logger: Logger) async {
        var schedule =
            provider.token.map { token in
                TokenSchedule(holding: UnixTime(milliseconds: token.expiry), at: now(), draw: draw())
            } ?? TokenSchedule()
        // A token that is here already is not read again until its file changes.
        var revision = provider.token == nil ? nil : source.revision
        var outage = Outage()
        while !Task.isCancelled {
            provider.readQuestions()
            if let found = source.revision, found != revision {
                revision = found
                schedule.changed()
            }
            switch schedule.next(at: now()) {
            case .fetch: await fetch(for: provider, &schedule, &outage, logger)
            case .wait(let moment):
                if let trouble = tally.trouble, !schedule.hasToken(at: now()) { provider.refuse(trouble) }
                let rest = Duration.microseconds(max(1000, moment.microseconds(since: now())))
                let limit = source.revision == nil ? Self.longestWait : Self.interval
                await provider.wakeup.wait(atMost: min(rest, limit))
            }
        }
    }

    /// The time, in the form that outages expect.
    private var moment: Duration { .microseconds(now().microseconds) }

    private func fetch(
        for provider: BearerTokenProvider, _ schedule: inout TokenSchedule, _ outage: inout Outage, _ logger: Logger
    ) async {
        do throws(TokenFailure) {
            let token = try await source.token(at: now())
            guard !Task.isCancelled else { return }
            let expiry = UnixTime(milliseconds: token.expiry)
            guard expiry > now() else { throw TokenFailure("the token is over already; do the clocks agree?") }
            schedule.obtained(expiry: expiry, at: now(), draw: draw())
            tally.obtained(expiry: expiry)
            // A token that was read again unchanged changes nothing for the clients.
            if token.text != provider.token?.text || outage.isOngoing { provider.hand(token) }
            if case .recovered(let length) = outage.succeeded(at: moment) {
                logger.notice(
                    "broker-tokens.available", "tokens for the brokers can be got again",
                    metadata: [LogKey.outage: "\(Outage.text(length))"])
            }
        } catch {
            guard !Task.isCancelled else { return }
            schedule.failed(at: now(), draw: draw())
            tally.failed(error.message)
            if case .failed(let reason) = outage.failed(error.message, at: moment) {
                logger.error(
                    "broker-tokens.unavailable",
                    "no token for the brokers can be got; connections live until the last one's end, and it is tried again",
                    metadata: [LogKey.detail: "\(reason)"])
            }
            if !schedule.hasToken(at: now()) { provider.refuse(error.message) }
        }
    }
}
