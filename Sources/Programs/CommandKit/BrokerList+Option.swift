import ArgumentParser
import WorkerConfiguration

/// Reads the value of an option `--brokers`.
///
/// - Throws: `ValidationError` for anything but addresses.
package func brokerList(_ text: String) throws -> String {
    do throws(BrokerList.Problem) { return try BrokerList(text).text } catch {
        throw ValidationError("--brokers: \(error)")
    }
}
