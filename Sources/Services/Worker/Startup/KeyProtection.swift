import Glibc
import JOSE
public import Logging
import Telemetry

/// Keeps the keys of this process in its memory: no core dump holds them, no other process traces them out, and they
/// are not swapped.
///
/// It is made before any key is read. Protection that the system does not allow is logged once, in a line, and the
/// process continues without it.
public struct KeyProtection: Sendable {
    enum Gap: String, Sendable, CaseIterable {
        case coreDumps = "core dumps are possible (RLIMIT_CORE cannot be set)"
        case tracing = "the process can be traced (PR_SET_DUMPABLE cannot be set)"
        case swap = "keys may be swapped to disk; allow more locked memory (ulimit -l, LimitMEMLOCK=, RLIMIT_MEMLOCK)"
    }

    private let gaps: [Gap]

    /// Forbids core dumps, for this process and for good, and tracing by anybody but root.
    public init() {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        let isCoreless = setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none) == 0
        let isUntraced = SecretMemory.forbidTracing()
        gaps = [isCoreless ? nil : .coreDumps, isUntraced ? nil : .tracing].compactMap { $0 }
    }

    /// Logs the threats from which the keys read by now are not protected; nothing where there are none.
    public func report(to logger: Logger) {
        let all = Self.gaps(gaps, refusedLocks: SecretMemory.refusedLocks)
        guard !all.isEmpty else { return }
        logger.notice(
            "keys.unprotected", "the system does not protect the keys in memory as it could",
            metadata: [LogKey.detail: "\(all.map(\.rawValue).joined(separator: "; "))"])
    }

    /// Returns `gaps`, and the gap that shows only once keys were read.
    static func gaps(_ gaps: [Gap], refusedLocks: Int) -> [Gap] { refusedLocks > 0 ? gaps + [.swap] : gaps }
}
