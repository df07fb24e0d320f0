import CBuild
import Foundation
import JOSE
import Kafka
import Logging
import Serving
import Telemetry
import WorkerConfiguration

/// The program's version and build, and the first line of its long-running commands.
enum Build {
    /// The version: the one place in which it is written. `config/release/version` copies it to the packages.
    static let version = "0.1.0"

    /// The versions of the program and of its libraries.
    static var info: BuildInfo {
        BuildInfo(
            version: version, kind: kind, commit: String(cString: remint_commit()), swift: compiler,
            librdkafka: KafkaLibrary.version, openssl: CryptoLibrary.version)
    }

    /// The kind of build, the commit, and the versions of the libraries that matter to an operator.
    static var description: String { info.description }

    private static var kind: String {
        #if DEBUG
            "debug"
        #else
            "release"
        #endif
    }

    /// The answer to `--version`: the version alone on the first line, for scripts, and the build on the second one.
    ///
    /// With `--json` beside it, the same as one JSON object. The parser prints this text for `--version` wherever it is in the
    /// line, and reads no other option then.
    static var report: String {
        CommandContext.current.arguments.contains("--json") ? info.json : "\(version)\n\(description)"
    }

    /// The version of the compiler; a program can only ask it for comparisons.
    private static var compiler: String {
        #if compiler(>=6.6)
            return "6.6 or later"
        #elseif compiler(>=6.5)
            return "6.5"
        #elseif compiler(>=6.4)
            return "6.4"
        #elseif compiler(>=6.3)
            return "6.3"
        #else
            return "6.2"
        #endif
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
        bytes % (1 << 20) == 0 ? "\(bytes >> 20) MiB" : bytes.of("byte")
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

extension Configuration {
    /// The limits of a signer that an operator asks about first.
    var signerLimits: KeyValuePairs<String, String> {
        [
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
