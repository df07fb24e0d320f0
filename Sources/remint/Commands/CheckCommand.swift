import AdapterKit
import ArgumentParser
import JOSE
import Pickup
import Vendors
import Worker
import WorkerConfiguration

/// `remint check`: says everything that is wrong with a configuration, and where.
struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Checks a configuration and its keys; makes no connection.",
        discussion:
            "Exit code 1 where a worker or a gateway could not start. Each line is file:line:column: severity: message."
    )

    @OptionGroup var options: ConfigurationOptions
    @Flag(help: "Print the diagnostics as JSON.") var json = false

    func run() throws {
        let preflight = Preflight(file: options.config, registry: .remint, source: .system)
        let gateway = preflight.configuration.map(PickupService.diagnostics) ?? []
        let isReady = preflight.isReady && gateway.isEmpty
        let diagnostics = preflight.diagnostics + gateway + preflight.notices
        if json {
            Terminal.print(report(diagnostics, isReady: isReady))
        } else {
            for diagnostic in diagnostics { Terminal.error("\(diagnostic)") }
            if isReady, let summary = preflight.summary { Terminal.print("\(options.config): ok: \(summary)") }
        }
        if !isReady { throw ExitCode.failure }
    }

    private func report(_ diagnostics: [Diagnostic], isReady: Bool) -> String {
        var json = JSONWriter()
        json.beginObject()
        json.name("ok")
        json.bool(isReady)
        json.name("diagnostics")
        json.beginArray()
        for diagnostic in diagnostics {
            json.beginObject()
            json.member("file", diagnostic.place.file)
            json.member("line", Int64(diagnostic.place.line))
            json.member("column", Int64(diagnostic.place.column))
            json.member("severity", diagnostic.severity.rawValue)
            json.member("message", diagnostic.message)
            json.endObject()
        }
        json.endArray()
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }
}
