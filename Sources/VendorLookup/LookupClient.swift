public import AdapterKit
import AsyncHTTPClient
public import Logging
public import Pipeline
import Telemetry

/// Asks the vendors over HTTP: `LookupPort` for the worker.
///
/// Each account has connections of its own and so many requests at a time; however slow one is, the others do not notice.
/// A call ends with exactly one reply, at the latest when its account's time is over, counted from `ask`. Redirects are not
/// followed, answers are bounded, certificates are verified, and what is said of a failure names the host and no more.
///
/// Calls are made while `run` runs; those that are asked for before it wait for it, and those that are asked for after it
/// end at once.
public final class LookupClient: LookupPort, CustomStringConvertible, CustomReflectable {
    /// A call on its way, with the moment of its end.
    private struct OpenCall: Sendable {
        let call: LookupCall
        let deadline: ContinuousClock.Instant
    }

    private let accounts: [String: LookupDestination]
    private let signer: any SigningPort
    private let maximumBodyBytes: Int
    private let logger: Logger
    private let now: @Sendable () -> UnixTime
    private let book = OpenCalls()
    private let calls: (stream: AsyncStream<OpenCall>, continuation: AsyncStream<OpenCall>.Continuation)

    /// - Parameters:
    ///   - endpoints: the accounts, each with a name of its own.
    ///   - signer: signs the tokens of calls that have a bearer.
    ///   - maximumBodyBytes: answers above are unreadable.
    ///   - now: the time.
    /// - Throws: `EndpointError` where an endpoint cannot be used; it names the account and never a credential.
    public init(
        _ endpoints: [LookupEndpoint], signer: any SigningPort, maximumBodyBytes: Int = 1 << 20, logger: Logger,
        now: @escaping @Sendable () -> UnixTime
    ) throws(EndpointError) {
        var accounts: [String: LookupDestination] = [:]
        for endpoint in endpoints {
            let account = try LookupDestination(endpoint)
            guard accounts.updateValue(account, forKey: account.name) == nil else {
                throw EndpointError("look-ups of \(account.name): there are two accounts of that name")
            }
        }
        self.accounts = accounts
        self.signer = signer
        self.maximumBodyBytes = max(1, maximumBodyBytes)
        self.logger = logger
        self.now = now
        calls = AsyncStream.makeStream()
    }

    public var description: String { "the look-ups of \(accounts.keys.sorted().joined(separator: ", "))" }
    public var customMirror: Mirror { Mirror(self, children: []) }

    // MARK: The port

    public func ask(_ calls: [LookupCall]) {
        let start = ContinuousClock.now
        for call in book.open(calls) {
            guard let account = accounts[call.account] else {
                let unknown = LookupFailure(.misconfigured, "no endpoint is configured for the account \(call.account)")
                book.close(call.id, .failure(unknown))
                continue
            }
            self.calls.continuation.yield(OpenCall(call: call, deadline: start + account.timeout))
        }
    }

    public func takeReplies() -> [LookupReply] { book.take() }

    /// Sets what is called, on any thread, each time a reply is there to be taken. It must not block.
    public func onReply(_ signal: @escaping @Sendable () -> Void) { book.notify(signal) }

    // MARK: The work

    /// Makes the calls until the task is cancelled; every call has ended when it returns. To be called once.
    public func run() async {
        let exchanges = accounts.mapValues { account in
            LookupExchange(
                account: account, client: account.makeClient(), signer: signer, maximumBodyBytes: maximumBodyBytes,
                now: now)
        }
        await withDiscardingTaskGroup { group in
            for await open in calls.stream {
                guard let exchange = exchanges[open.call.account] else { continue }
                // Here, for their tasks may begin in any order.
                let place = exchange.account.permits.place()
                group.addTask { await self.make(open, exchange, place) }
            }
        }
        book.closeAll(LookupErrorText.stopping)
        for exchange in exchanges.values { try? await exchange.client.shutdown() }
    }

    /// Makes one call. It ends when its time is over, also where something does not: that goes on in its permit.
    private func make(_ open: OpenCall, _ exchange: LookupExchange, _ place: LookupPermits.Place) async {
        let account = exchange.account
        await withTaskGroup(of: Result<LookupAnswer, LookupFailure>.self) { group in
            group.addTask {
                await account.permits.withPermit(place) { await exchange.perform(open.call) }
                    ?? .failure(LookupErrorText.stopping)
            }
            group.addTask {
                do { try await Task.sleep(until: open.deadline, clock: .continuous) } catch {
                    return .failure(LookupErrorText.stopping)
                }
                return .failure(LookupErrorText(host: account.url.authority, timeout: account.timeout).overdue)
            }
            if let first = await group.next() {
                if case .failure(let failure) = first { note(failure, account.name) }
                book.close(open.call.id, first)
            }
            group.cancelAll()
        }
    }

    /// For who looks closely; what an operator has to know is said where the answers are judged.
    private func note(_ failure: LookupFailure, _ account: String) {
        logger.debug(
            "a look-up has no answer",
            metadata: [
                LogKey.account: "\(account)", LogKey.lookupFailure: "\(failure.kind.rawValue)",
                LogKey.detail: "\(failure.detail)",
            ])
    }
}
