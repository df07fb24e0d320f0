package import AdapterKit
package import JOSE
import Kafka
import Synchronization
package import WorkerConfiguration

/// The source of a worker's configuration, for reloads.
public struct ConfigurationOrigin: Sendable {
    package let file: String
    package let registry: AdapterRegistry
    package let source: ConfigurationSource

    /// The file at `file`, for the adapters of `registry`.
    package init(file: String, registry: AdapterRegistry, source: ConfigurationSource) {
        self.file = file
        self.registry = registry
        self.source = source
    }

    /// Reads it as it is now, without keys. Returns its contents, its errors, and the files that it was read from.
    package func readAlone() -> (
        configuration: Configuration?, diagnostics: [Diagnostic], files: [String: FileRevision?]
    ) {
        ConfigurationReader(registry: registry, source: source).readNoting(file)
    }
}

/// The requests to reload the configuration.
package final class ReloadRequests: Sendable {
    private let isAsked = Mutex(false)
    private let wakeup = Wakeup()

    /// No request yet.
    package init() {}

    /// Requests a reload.
    package func ask() {
        isAsked.withLock { $0 = true }
        wakeup.signal()
    }

    /// Waits for a request, or for `limit`.
    ///
    /// - Returns: whether there was one since the last call.
    func wait(atMost limit: Duration) async -> Bool {
        await wakeup.wait(atMost: limit)
        return isAsked.withLock { isAsked in
            defer { isAsked = false }
            return isAsked
        }
    }
}

/// Reloads the configuration on request, and when its file or one that it names has changed.
package struct ConfigurationWatcher: Sendable {
    private let requests: ReloadRequests
    private let reload: @Sendable () async -> [String: FileRevision?]

    /// - Parameter reload: reads the configuration and takes it over; returns the files that it was read from, as they were just
    ///   before.
    package init(requests: ReloadRequests, reload: @escaping @Sendable () async -> [String: FileRevision?]) {
        self.requests = requests
        self.reload = reload
    }

    /// Checks the files once a second, until the task is canceled.
    ///
    /// - Parameter files: the files as they were when the running configuration was read.
    package func run(since files: [String: FileRevision?]) async {
        var watch = FileWatch(files)
        while !Task.isCancelled {
            let isAsked = await requests.wait(atMost: .seconds(1))
            let isChanged = watch.look(at: watch.paths.map { ($0, FileRevision(of: $0)) })
            guard isAsked || isChanged, !Task.isCancelled else { continue }
            watch.read(await reload())
        }
    }
}

/// The files that a configuration was read from, and their revisions. A changed file may be half written, and half a
/// file can be a valid configuration, with half of the apps. So it is read once two looks in a row found it the same.
struct FileWatch: Sendable {
    private var known: [String: FileRevision?]
    /// The revisions at the last look, if they differ from the known ones.
    private var last: [String: FileRevision?]?

    init(_ files: [String: FileRevision?]) { known = files }

    /// The files to look at.
    var paths: [String] { Array(known.keys) }

    /// Compares `files` with the last look.
    ///
    /// - Returns: Whether the worker must read them again.
    mutating func look(at files: [(String, FileRevision?)]) -> Bool {
        let now = Dictionary(files) { first, _ in first }
        guard now != known else {
            last = nil
            return false
        }
        defer { last = now }
        return last == now
    }

    /// Notes that `files` were read or looked for.
    mutating func read(_ files: [String: FileRevision?]) {
        known = files
        last = nil
    }
}
