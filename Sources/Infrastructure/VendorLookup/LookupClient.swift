public import AdapterKit
public import HTTPTransport
public import Logging
public import Pipeline
import Synchronization
import Telemetry

/// Asks the vendors over HTTP: `LookupPort` for the worker.
///
/// Each account has connections and a limit on concurrent requests of its own; a slow one does not affect the others. A
/// call ends with exactly one reply, at the latest when its account's timeout is over, counted from `ask`. Redirects
/// are not followed, answers are bounded, certificates are verified, and a failure's text names the host and no more.
///
/// Calls are made while `run` runs; earlier calls wait for it, and later ones end at once. The accounts may be replaced
/// meanwhile: calls to a removed account still end as they would have.
public final class LookupClient: LookupPort, CustomStringConvertible, CustomReflectable {
    /// An account with the calls that wait to be made.
    final class OpenAccount: Sendable {
        let account: LookupDestination
        let calls: (stream: AsyncStream<OpenCall>, continuation: AsyncStream<OpenCall>.Continuation)

        init(_ account: LookupDestination) {
            self.account = account
            calls = AsyncStream.makeStream()
        }
    }

    /// A call on its way, with the moment of its end.
    struct OpenCall: Sendable {
        let call: LookupCall
        let deadline: ContinuousClock.Instant
    }

    private let accounts: Mutex<[String: OpenAccount]>
    /// The accounts whose calls are to be made from now on.
    private let opened: (stream: AsyncStream<OpenAccount>, continuation: AsyncStream<OpenAccount>.Continuation)
    private let signer: any SigningPort
    private let maximumBodyBytes: Int
    private let logger: Logger
    private let now: @Sendable () -> UnixTime
    private let book = OpenCalls()

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
        let accounts = try LookupAccounts(endpoints)
        self.accounts = Mutex(accounts.opened)
        opened = AsyncStream.makeStream()
        for account in accounts.opened.values { opened.continuation.yield(account) }
        self.signer = signer
        self.maximumBodyBytes = max(1, maximumBodyBytes)
        self.logger = logger
        self.now = now
    }

    /// The accounts' names; never a credential.
    public var description: String {
        "the look-ups of \(accounts.withLock { $0.keys.sorted() }.joined(separator: ", "))"
    }
    /// Empty, so that a dump shows no credential.
    public var customMirror: Mirror { Mirror(self, children: []) }

    // MARK: The port

    /// Starts `calls`. A call to an account without an endpoint fails at once, as `misconfigured`.
    public func ask(_ calls: [LookupCall]) {
        let start = ContinuousClock.now
        for call in book.open(calls) {
            let isTaken = accounts.withLock { accounts in
                guard let account = accounts[call.account] else { return false }
                account.calls.continuation.yield(OpenCall(call: call, deadline: start + account.account.timeout))
                return true
            }
            if !isTaken {
                let unknown = LookupFailure(.misconfigured, "no endpoint is configured for the account \(call.account)")
                book.close(call.id, .failure(unknown))
            }
        }
    }

    /// Returns the replies that arrived since the last call of this function.
    public func takeReplies() -> [LookupReply] { book.take() }

    /// Sets the function that is called, on any thread, each time a reply is ready. It must not block.
    public func onReply(_ signal: @escaping @Sendable () -> Void) { book.notify(signal) }

    // MARK: Other accounts

    /// Replaces the accounts. Unchanged ones keep their connections; calls to removed ones end as they would have, and
    /// then their connections are closed.
    public func replaceAccounts(with new: LookupAccounts) {
        accounts.withLock { accounts in
            var next = new.opened
            var gone = accounts
            for (name, before) in new.kept {
                guard let account = gone.removeValue(forKey: before) else { continue }
                next[name] = account
            }
            for account in gone.values { account.calls.continuation.finish() }
            for (name, account) in next where new.opened[name] === account { opened.continuation.yield(account) }
            accounts = next
        }
    }

    // MARK: The work

    /// Makes the calls until the task is canceled; every call is over when it returns. To be called once.
    public func run() async {
        await withDiscardingTaskGroup { group in
            for await account in opened.stream { group.addTask { await self.run(account) } }
        }
        book.closeAll(LookupFailure.stopping)
    }

    /// Makes the calls of one account, until it is removed or the task is canceled.
    private func run(_ account: OpenAccount) async {
        let exchange = LookupExchange(
            account: account.account, transport: account.account.makeTransport(), signer: signer,
            maximumBodyBytes: maximumBodyBytes, now: now)
        await withDiscardingTaskGroup { group in
            for await open in account.calls.stream {
                // Here, for their tasks may begin in any order.
                let place = exchange.account.permits.place()
                group.addTask { await self.make(open, exchange, place) }
            }
        }
        await exchange.transport.close()
    }

    /// Makes one call. The call ends when its timeout is over, even if its exchange hangs, which then continues in its
    /// permit.
    private func make(_ open: OpenCall, _ exchange: LookupExchange, _ place: LookupPermits.Place) async {
        let account = exchange.account
        await withTaskGroup(of: Result<LookupAnswer, LookupFailure>.self) { group in
            group.addTask {
                await account.permits.withPermit(place) { await exchange.perform(open.call, until: open.deadline) }
                    ?? .failure(LookupFailure.stopping)
            }
            group.addTask {
                do { try await Task.sleep(until: open.deadline, clock: .continuous) } catch {
                    return .failure(LookupFailure.stopping)
                }
                return .failure(LookupFailure(TransportError(account.url.authority, .overdue(account.timeout))))
            }
            if let first = await group.next() {
                if case .failure(let failure) = first { note(failure, open.call.account) }
                book.close(open.call.id, first)
            }
            group.cancelAll()
        }
    }

    /// Logs the failure for debugging; the code that judges the answers logs it for operators.
    private func note(_ failure: LookupFailure, _ account: String) {
        logger.debug(
            "lookup.unanswered", "a look-up has no answer",
            metadata: [
                LogKey.account: "\(account)", LogKey.lookupFailure: "\(failure.kind.rawValue)",
                LogKey.detail: "\(failure.detail)",
            ])
    }
}
