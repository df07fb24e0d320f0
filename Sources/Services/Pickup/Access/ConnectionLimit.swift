import Serving
import WorkerConfiguration

/// The number of connections that may be open at once: `pickup.connections`, or what the limit of open files allows
/// where the configuration leaves the number at its default.
struct ConnectionLimit: Sendable, Equatable {
    /// The smallest number that a gateway starts with.
    private static let least = 64

    private let wanted: Int
    private let files: OpenFiles

    init(_ pickup: Configuration.Pickup, _ files: OpenFiles) {
        wanted = pickup.connections
        self.files = files
    }

    /// The number of connections that may be open.
    var connections: Int { min(wanted, files.connections) }

    /// The number of connections that are accepted before others have to wait: those above `connections` are closed at
    /// once, which takes a moment.
    var accepted: Int { connections + OpenFiles.closing }

    /// The reason why the gateway cannot start, in a line; nil where it can.
    var problem: String? {
        let isDefault = wanted == Configuration.Pickup().connections
        return isDefault
            ? files.problem(Self.least, for: "pickup")
            : files.problem(wanted, for: "pickup.connections: \(wanted)")
    }
}
