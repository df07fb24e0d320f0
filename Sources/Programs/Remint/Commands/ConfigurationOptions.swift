import AdapterKit
import ArgumentParser
import Foundation
import JOSE
import Keyring
import Logging
import Preflight
import Serving
import Vendors
import Worker
import WorkerConfiguration

/// `--config`, and the steps that every command does with it.
struct ConfigurationOptions: ParsableArguments {
    @Option(
        name: [.customShort("c"), .customLong("config")],
        help: ArgumentHelp(
            "The configuration. Default: $\(ConfigurationPlace.variable), or \(ConfigurationPlace.installed).",
            valueName: "file"))
    var named: String?

    /// The configuration's file.
    var config: String { (try? place())?.path ?? ConfigurationPlace.installed }

    func validate() throws {
        do throws(ConfigurationPlace.Missing) { _ = try place() } catch { throw ValidationError("\(error)") }
    }

    private func place() throws(ConfigurationPlace.Missing) -> ConfigurationPlace {
        try ConfigurationPlace(
            named: named, environment: { CommandContext.current.environment[$0] },
            exists: { FileManager.default.fileExists(atPath: $0) })
    }

    /// Reads the configuration and the keys, and reports their errors on standard error.
    ///
    /// - Parameter isService: whether a service manager starts the process again after 75.
    /// - Throws: `ExitCode` 1 where a worker could not start with them, or 75 for a service whose files may heal.
    func load(isService: Bool = false) throws -> Preflight {
        let preflight = Preflight(file: config, registry: .remint, source: .system)
        for diagnostic in preflight.diagnostics { Terminal.error("\(diagnostic)") }
        guard preflight.isReady else { throw isService && preflight.mayHeal ? ExitCode(75) : ExitCode.failure }
        return preflight
    }

    /// Reads the configuration alone, for commands about keys that may not exist yet.
    ///
    /// - Throws: `ExitCode` 1 where it cannot be read.
    func loadConfiguration() throws -> Configuration { try loadNoting().configuration }

    /// Reads the configuration alone, and returns also the files that it was read from, as they were just before.
    func loadNoting() throws -> (configuration: Configuration, files: [String: FileRevision?]) {
        let (configuration, diagnostics, files) = ConfigurationReader(registry: .remint, source: .system).readNoting(
            config)
        for diagnostic in diagnostics { Terminal.error("\(diagnostic)") }
        guard let configuration else { throw ExitCode.failure }
        return (configuration, files)
    }

    /// Raises the limit of open files.
    ///
    /// - Throws: `ExitCode` 1 where `process` could not run with it.
    func requireFiles(for process: String) throws {
        guard let problem = OpenFiles.raised().problem(OpenFiles.operators, for: process) else { return }
        Terminal.error("remint: \(problem)")
        throw ExitCode.failure
    }

    /// Returns the configured app `name`.
    ///
    /// - Throws: `ValidationError` that names the known ones.
    func app(_ name: String, in configuration: Configuration) throws -> Configuration.App {
        guard let app = configuration.apps.first(where: { $0.name == name }) else {
            throw ValidationError(
                "no app is called \(name) in \(config); known: \(configuration.apps.map(\.name).joined(separator: ", "))"
            )
        }
        return app
    }

    /// Warns of an app that the configuration does not have. Records of such apps exist, so this is no error.
    func warnOfUnknown(app: String?, in configuration: Configuration) {
        let known = configuration.apps.map(\.name)
        guard let app, !known.contains(where: { $0.hasSameBytes(as: app) }) else { return }
        let near = Spelling.nearest(to: app, among: known).map { ". Did you mean \($0)?" }
        Terminal.error(
            "remint: warning: no app is called \(app.printable(limit: 40)) in \(config)\(near ?? "; known: \(known.joined(separator: ", "))")"
        )
    }

    /// Returns the name of the configured key ring `name`.
    ///
    /// - Throws: `ValidationError` that names the known ones.
    func keyRing(_ name: String, in configuration: Configuration) throws -> String {
        guard configuration.keys.contains(where: { $0.name.hasSameBytes(as: name) }) else {
            let known = configuration.keys.map(\.name).joined(separator: ", ")
            throw ValidationError("no key ring is called \(name) in \(config); known: \(known)")
        }
        return name
    }
}

extension ConfigurationSource {
    /// This process's environment and files.
    static let system: ConfigurationSource = {
        var source = unguarded
        (source.file, source.secret) = (guardedFile, guardedSecret)
        return source
    }()

    /// This process's environment and files, whoever can change them: for tests, which sign for nobody.
    static let unguarded = ConfigurationSource(
        environment: { CommandContext.current.environment[$0] },
        file: { try? String(contentsOfFile: $0, encoding: .utf8) })
}

/// A command that prints further commands, which need some of its options.
protocol AdvisingCommand {
    /// The options that the printed commands need.
    var invocation: RemintCommand.Invocation { get }
}

/// A command about one key ring.
protocol KeyRingCommand: AdvisingCommand {
    /// The options that select the key ring.
    var ring: KeyRingOptions { get }
    /// The brokers that the operator named instead of the configured ones.
    var brokers: String? { get }
}

extension KeyRingCommand {
    var brokers: String? { nil }
    var invocation: RemintCommand.Invocation {
        RemintCommand.Invocation(config: ring.options.config, ring: ring.key, brokers: brokers)
    }
}

/// A command about everything in a configuration.
protocol ConfigurationCommand: AdvisingCommand {
    /// The options that name the configuration.
    var options: ConfigurationOptions { get }
    /// The brokers that the operator named instead of the configured ones.
    var brokers: String? { get }
}

extension ConfigurationCommand {
    var brokers: String? { nil }
    var invocation: RemintCommand.Invocation {
        RemintCommand.Invocation(config: options.config, brokers: brokers)
    }
}

extension Configuration {
    /// Returns the brokers to ask: those of `brokers`, or the configured ones.
    ///
    /// - Throws: `ValidationError` where the broker lives in another process at an unknown port, or `brokers` is no list of addresses.
    func brokers(instead brokers: String?) throws -> String {
        if brokers == nil, let port = kafka.embeddedPort { return "127.0.0.1:\(port)" }
        guard brokers != nil || !kafka.isEmbedded else {
            throw ValidationError(
                "the embedded broker lives in another process; name its address, which that process logs, with --brokers"
            )
        }
        guard let brokers else { return kafka.bootstrapServers }
        return try brokerList(brokers)
    }
}

extension Logger {
    /// Returns a logger for a command: in text form, for problems only.
    static func quiet(_ log: Configuration.Log) -> Logger {
        var log = log
        log.format = .text
        if log.level == "info" { log.level = "warning" }
        return .remint(log)
    }
}
