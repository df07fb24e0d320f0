import ArgumentParser
import Operations
import WorkerConfiguration
import YAMLReading

/// `--memory`, the limit on the memory of the ledger's table.
package struct LedgerMemory: ParsableArguments {
    @Option(help: ArgumentHelp("Maximum memory of the table of subjects, at least 1MB.", valueName: "192MB"))
    private var memory = "\(LedgerReader.standardMemory >> 20)MB"

    package init() {}

    /// The limit in bytes.
    ///
    /// - Throws: `ValidationError`.
    package var bytes: Int {
        get throws {
            guard let bytes = ByteCount.parse(memory), bytes >= 1 << 20 else {
                throw ValidationError(
                    "--memory \(memory.printable(limit: 20)) is not a size from 1MB on, such as 192MB")
            }
            return bytes
        }
    }
}

/// Reads the value of an option `--brokers`.
///
/// - Throws: `ValidationError` for anything but addresses.
package func brokerList(_ text: String) throws -> String {
    do throws(BrokerList.Problem) { return try BrokerList(text).text } catch {
        throw ValidationError("--brokers: \(error)")
    }
}
