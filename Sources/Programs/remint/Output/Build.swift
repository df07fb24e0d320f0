import Foundation
import Kafka
import Logging
import Serving
import Telemetry
import WorkerConfiguration

/// The program's version and build, and the first line of its long-running commands.
enum Build {
    /// The version.
    static let version = "0.1.0"

    /// The kind of build, and the versions of the libraries that matter to an operator.
    static var description: String {
        #if DEBUG
            let kind = "debug"
        #else
            let kind = "release"
        #endif
        return "\(kind), librdkafka \(KafkaLibrary.version)"
    }

    /// The details of a first line.
    ///
    /// - Parameter limits: the effective limits, by their configuration keys.
    static func details(_ limits: KeyValuePairs<String, String>) -> Logger.Metadata {
        let list = limits.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        return [LogKey.version: "\(version)", LogKey.build: "\(description)", LogKey.limits: "\(list)"]
    }

    /// Returns a number of bytes for people.
    static func text(bytes: Int) -> String {
        bytes % (1 << 20) == 0 ? "\(bytes >> 20) MiB" : "\(bytes) bytes"
    }
}

extension Configuration {
    /// The limits of a worker that an operator asks about first.
    var workerLimits: KeyValuePairs<String, String> {
        [
            "worker.batch.events": "\(worker.readAheadEvents)", "worker.memory": Build.text(bytes: worker.memory),
            "worker.max_event_bytes": Build.text(bytes: worker.maximumEventBytes),
            "worker.admission.subjects": "\(worker.admission.subjects)",
            "worker.shutdown_deadline": "\(worker.shutdownDeadline.components.seconds)s",
            "cores": "\(ProcessInfo.processInfo.activeProcessorCount)", "open files": "\(OpenFiles.raised().limit)",
        ]
    }
}

extension Configuration.Pickup {
    /// The limits of a gateway that an operator asks about first.
    var limits: KeyValuePairs<String, String> {
        [
            "pickup.connections": "\(connections)", "pickup.cache": Build.text(bytes: cache),
            "pickup.total_rate": "\(totalRate)", "pickup.drain": "\(drain.components.seconds)s",
            "open files": "\(OpenFiles.raised().limit)",
        ]
    }
}
