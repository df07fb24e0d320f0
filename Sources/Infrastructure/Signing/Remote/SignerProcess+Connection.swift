import Glibc
import Logging
import NIOCore
import Pipeline
import Synchronization
import Telemetry

extension SignerProcess {
    /// Stays connected, and asks for the keys once a second, until the task is canceled.
    public func run() async {
        var backoff = Backoff(atMost: .seconds(2))
        while !Task.isCancelled {
            do {
                let connection = try await SignerConnection.open(socket)
                let (trouble, wasUseful) = await follow(connection)
                if wasUseful { backoff.reset() }
                if let trouble { note([.keys: trouble]) }
            } catch {
                note([.keys: "cannot be reached: \(Self.text(error)); start it with: remint signer"])
            }
            guard await backoff.wait(while: { true }) else { break }
        }
    }

    /// Asks for the keys repeatedly, as long as the connection lasts.
    ///
    /// - Returns: the failure, nil where the task was canceled; and whether the signer sent keys at all.
    private func follow(_ connection: SignerConnection) async -> (trouble: String?, wasUseful: Bool) {
        var wasUseful = false
        defer {
            state.withLock { $0.connection = nil }
            metrics?.set(isReachable: false, socket)
            connection.close(.broken("it was given up"))
        }
        while !Task.isCancelled {
            switch await connection.ask(within: times.keyTimeout, { .keysRequest(id: $0) }) {
            case .success(.keys(_, let rings)):
                take(rings)
                wasUseful = true
                // First: whoever reads that the signer is usable again may use it.
                state.withLock { $0.connection = connection }
                metrics?.set(isReachable: true, socket)
                clear([.keys])
                keysAreKnown()
            case .success: return ("answered another question than was asked", wasUseful)
            case .failure(.broken(let text)): return ("cannot be reached: \(text)", wasUseful)
            case .failure(.closed(let reason)): return ("closed the connection: \(reason)", wasUseful)
            case .failure(.overdue(let timeout)): return ("did not list its keys within \(timeout)", wasUseful)
            case .failure(.malformed(let text)), .failure(.tooLarge(let text)):
                return ("does not speak the protocol: \(text)", wasUseful)
            }
            try? await Task.sleep(for: times.interval)
        }
        return (nil, wasUseful)
    }

    // MARK: Keys

    /// Takes over the published rings that the worker asked for.
    private func take(_ published: [PublishedRing]) {
        let told = Dictionary(published.map { ($0.name, $0) }) { first, _ in first }
        for (name, algorithms) in wanted {
            guard let ring = told[name] else {
                distrust(name, "has no key ring \(name); give it one with a path in its configuration")
                continue
            }
            let before = state.withLock { $0.rings[name] }
            if before?.published == ring {
                trust(name, nil)
                continue
            }
            do throws(TrustedRing.Distrust) {
                let trusted = try TrustedRing(ring, for: algorithms, before: before)
                guard trusted.active != nil else {
                    distrust(name, "has no active version of the key ring \(name)")
                    continue
                }
                trust(name, trusted)
                if before?.active != trusted.active { sayChanged(trusted) }
            } catch { distrust(name, "has a key ring \(name) that cannot be used: \(error.reason)") }
        }
    }

    private func trust(_ name: String, _ ring: TrustedRing?) {
        state.withLock { state in
            if let ring { state.rings[name] = ring }
            state.distrusted.remove(name)
        }
        clear([.ring(name)])
    }

    private func distrust(_ name: String, _ reason: String) {
        state.withLock { _ = $0.distrusted.insert(name) }
        note([.ring(name): reason])
    }

    private func sayChanged(_ ring: TrustedRing) {
        logger.notice(
            "signer.key-ring-changed", "a signer's key ring changed",
            metadata: [
                LogKey.signerSocket: "\(socket)", LogKey.keyRing: "\(ring.published.name)",
                LogKey.keyVersion: "\(ring.active?.version ?? "none")",
            ])
    }

    private static func text(_ error: any Error) -> String {
        guard let error = error as? IOError else { return "\(error)" }
        return String(cString: strerror(error.errnoCode))
    }
}
