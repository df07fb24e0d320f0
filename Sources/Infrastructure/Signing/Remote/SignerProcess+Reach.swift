public import AdapterKit
public import Logging
import Synchronization

extension SignerProcess {
    /// Connects to the signer at `socket`, asks once for its keys, and ends the connection.
    ///
    /// - Parameters:
    ///   - wanted: the rings it is asked for, and the algorithms the apps that use them take.
    ///   - limit: the longest time for it.
    /// - Returns: the reason that a ring cannot sign, with its remedy; nil where all of them can.
    public static func trouble(
        at socket: String, wanted: [String: Set<Algorithm>], within limit: Duration, logger: Logger
    ) async -> String? {
        let (troubles, continuation) = AsyncStream<Void>.makeStream()
        let signer = SignerProcess(
            socket: socket, wanted: wanted, problems: { text, _ in if text != nil { continuation.finish() } },
            lanes: 1, times: Times(keyTimeout: limit), logger: logger)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await signer.run() }
            group.addTask { await signer.waitForKeys(within: limit) }
            group.addTask { for await _ in troubles {} }
            await group.next()
            // A message about the keys that is under way is finished.
            group.cancelAll()
            await group.waitForAll()
        }
        let texts = signer.state.withLock { $0.troubles.values.sorted() }
        if !texts.isEmpty { return texts.joined(separator: "; ") }
        return wanted.keys.allSatisfy { signer.activeKey(of: $0) != nil }
            ? nil : "did not list its keys within \(limit)"
    }
}
