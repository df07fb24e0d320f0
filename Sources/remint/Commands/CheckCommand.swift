import AdapterKit
import ArgumentParser
import JOSE
import Vendors
import Worker
import WorkerConfiguration

/// `remint check`: says everything that is wrong with a configuration, and where.
struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Checks a configuration and its keys; makes no connection.",
        discussion: "Exit code 1 where a worker could not start. Each line is file:line:column: severity: message.")

    @OptionGroup var options: ConfigurationOptions
    @Flag(help: "Print the diagnostics as JSON.") var json = false

    func run() throws {
        let preflight = Preflight(file: options.config, registry: .remint, source: .system)
        if json {
            Terminal.print(report(preflight))
        } else {
            for diagnostic in preflight.diagnostics + preflight.notices { Terminal.error("\(diagnostic)") }
            if let summary = preflight.summary { Terminal.print("\(options.config): ok: \(summary)") }
        }
        if !preflight.isReady { throw ExitCode.failure }
    }

    private func report(_ preflight: Preflight) -> String {
        var json = JSONWriter()
        json.beginObject()
        json.name("ok")
        json.bool(preflight.isReady)
        json.name("diagnostics")
        json.beginArray()
        for diagnostic in preflight.diagnostics + preflight.notices {
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
