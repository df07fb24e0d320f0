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
    /// The functions to call after the reload, one for each request.
    private let finished = Mutex<[@Sendable () -> Void]>([])
    private let wakeup = Wakeup()

    package init() {}

    /// Requests a reload.
    ///
    /// - Parameter finished: called once the configuration was read and applied or refused.
    package func ask(then finished: @escaping @Sendable () -> Void = {}) {
        self.finished.withLock { $0.append(finished) }
        wakeup.signal()
    }

    /// Waits for a request, or for `limit`.
    ///
    /// - Returns: the functions to call after the reload, one for each request since the last call.
    func wait(atMost limit: Duration) async -> [@Sendable () -> Void] {
        await wakeup.wait(atMost: limit)
        return finished.withLock { finished in
            defer { finished = [] }
            return finished
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
            let asked = await requests.wait(atMost: .seconds(1))
            let isChanged = watch.look(at: watch.paths.map { ($0, FileRevision(of: $0)) })
            guard !asked.isEmpty || isChanged, !Task.isCancelled else { continue }
            watch.read(await reload())
            for finished in asked { finished() }
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

    mutating func read(_ files: [String: FileRevision?]) {
        known = files
        last = nil
    }
}
