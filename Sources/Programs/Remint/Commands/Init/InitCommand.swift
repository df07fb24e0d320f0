import Access
import AdapterKit
import ArgumentParser
import Foundation
import JOSE
import Keyring
import Operations
import Vendors
import WorkerConfiguration

/// `remint init`: a first configuration with its key ring.
struct InitCommand: ParsableCommand, AdvisingCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Makes a first configuration and its key ring, and prints the next commands.",
        discussion: .help(
            """
            The command writes remint.yaml (some 15 lines) and the key ring keys/APP to the folder. It replaces no file.
            If the folder already has a remint.yaml, the command adds the app and its key ring to this configuration.

            On a terminal, the command asks for the values that no option names. Without a terminal, --vendor and one of
            --generate and --import are required. The defaults are then: the app has the adapter's name, the broker runs
            in the worker (\(SetupAnswers.embeddedBroker)), and the edge is your own.
            """,
            examples: """
                remint init --vendor braze --import braze.pem --brokers kafka:9093
                remint init --vendor onesignal --set app_id=ID --import onesignal.p8
                """))

    @Option(help: "Name of the vendor's adapter, such as braze.") var vendor: String?
    @Option(help: "Name of the app. Default: the name of the adapter.") var app: String?
    @Option(
        name: .customLong("set"),
        help: ArgumentHelp(
            "Setting of the vendor's adapter. Repeat the option for several settings.", valueName: "name=value"))
    var settings: [String] = []
    @Flag(help: "Make a new key.") var generate = false
    @Option(
        name: .customLong("import"),
        help: ArgumentHelp("File with an existing key: a PEM, a JWK or a shared secret.", valueName: "file"))
    var imported: String?
    @Option(help: ArgumentHelp("File with the passphrase of an encrypted PEM.", valueName: "file"))
    var passphraseFile: String?
    @Option(help: "The brokers as host:port, or embedded:PORT for a broker in the worker.") var brokers: String?
    @Flag(help: "Connect to brokers on other machines without TLS.") var plaintext = false
    @Flag(help: "Set up Remint's gateway for the devices.") var gateway = false
    @Flag(help: "Set up no gateway, because devices call your own edge.") var ownEdge = false
    @Option(help: ArgumentHelp("Folder of the configuration. Default: the current folder.", valueName: "folder"))
    var dir = "."
    @OptionGroup var version: NewVersionOptions
    @OptionGroup var rsa: RSABitsOption

    var files: SetupFiles { SetupFiles(folder: dir) }
    var invocation: RemintCommand.Invocation { RemintCommand.Invocation(config: files.configuration) }

    func validate() throws {
        guard !generate || imported == nil else { throw ValidationError("give either --generate or --import") }
        guard passphraseFile == nil || imported != nil else {
            throw ValidationError("--passphrase-file belongs to --import")
        }
        guard !gateway || !ownEdge else { throw ValidationError("give either --gateway or --own-edge") }
        guard settings.isEmpty || vendor != nil else { throw ValidationError("--set needs --vendor") }
        guard imported?.isEmpty != true else { throw ValidationError("--import is empty; name the key's file") }
        guard !dir.isEmpty else { throw ValidationError("--dir is empty; name a folder") }
    }

    func run() throws {
        let existing = try existing()
        let answers = try answered(adding: existing?.configuration)
        if let existing { try add(answers, to: existing) } else { try make(answers) }
    }

    private func make(_ answers: SetupAnswers) throws {
        let backend = answers.hasGateway == true ? try APIKey.generate(random: SecretBytes.random(count:)) : nil
        guard let starter = answers.configuration(isPlaintext: plaintext, backend: backend?.hash) else {
            throw ExitCode.failure
        }
        let ring = try ring(of: starter, in: starter.text)
        try files.requireNone(beside: ring.directory)
        let key = try key(for: ring, answers)
        try files.write(starter.text, backend: backend?.text)
        do { try ring.tell(try store(key, in: ring, answers)) } catch {
            files.remove()
            throw error
        }
        let adapter = ring.apps.first?.adapter
        let steps = adapter.map { FirstSteps(starter, adapter: $0, keyFile: files.backendKey).steps } ?? []
        var lines = ["", "\(files.configuration) and the key ring \(ring.directory.path) are written. Next:"]
        lines += Self.lines(of: steps)
        if let command = FirstSteps.watching(starter) { lines.append("The token is in the output of: \(command)") }
        printSteps(lines)
    }

    func store(_ key: SigningKey, in ring: RingInUse, _ answers: SetupAnswers) throws -> RingInUse.AddedKey {
        try ring.store(key, version, as: answers.key == .generated ? .generated : .imported)
    }

    /// Returns the ring of `starter` in a configuration `text`, which is read like a file.
    func ring(of starter: StarterConfiguration, in text: String) throws -> RingInUse {
        let path = files.configuration
        var source = ConfigurationSource.system
        source.file = { $0 == path ? .contents(text) : ConfigurationSource.system.file($0) }
        let (configuration, diagnostics) = ConfigurationReader(registry: .remint, source: source).read(path)
        guard let configuration, let key = configuration.keys.first(where: { $0.name == starter.app }),
            let folder = key.path
        else {
            for diagnostic in diagnostics where diagnostic.severity == .error { Terminal.error(diagnostic.message) }
            Terminal.error("remint: nothing was written; correct the options, such as --set NAME=VALUE")
            throw ExitCode.failure
        }
        return RingInUse(
            configuration: configuration, ring: key, directory: KeyRingDirectory(path: folder),
            now: CommandContext.current.now)
    }

    func key(for ring: RingInUse, _ answers: SetupAnswers) throws -> SigningKey {
        let algorithm = try ring.algorithm(option: version.algorithm)
        guard case .file(let path) = answers.key else {
            return try ring.newKey(algorithm, version, rsaBits: rsa.bits)
        }
        return try ImportedKey(
            path: path, passphraseFile: passphraseFile, encoding: ring.encoding(asked: version.encoding)
        ).read(algorithm)
    }

    /// Returns the lines of `steps`, each under its purpose.
    static func lines(of steps: [(command: String, purpose: String)]) -> [String] {
        steps.flatMap { ["  # \($0.purpose)", "  \($0.command)"] }
    }

    /// Prints the next commands; on standard error where the result is JSON.
    func printSteps(_ lines: [String]) {
        for line in lines { version.json ? Terminal.error(line) : Terminal.print(line) }
    }
}

/// Adding an app to the configuration of the folder.
extension InitCommand {
    /// A configuration that an app is added to.
    struct Existing {
        let text: String
        let configuration: Configuration
    }

    /// Returns the configuration of the folder; nil if it has none.
    ///
    /// - Throws: `ExitCode` 1 for a wrong configuration, after its mistakes. `ValidationError` for options that belong to
    ///   a new one. `KeyRingError` for a symbolic link.
    func existing() throws -> Existing? {
        guard files.hasConfiguration else { return nil }
        let path = files.configuration
        try DurableWrite.requireNoLink(path)
        guard brokers == nil, !plaintext, !gateway, !ownEdge else {
            throw ValidationError(
                "\(path) states the brokers and the gateway; omit these options to add an app to it, "
                    + "or name another --dir")
        }
        let (configuration, diagnostics) = ConfigurationReader(registry: .remint, source: .system).read(path)
        guard let configuration, let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            for diagnostic in diagnostics where diagnostic.severity == .error { Terminal.error("\(diagnostic)") }
            Terminal.error(
                "remint: nothing was written; correct \(path), or name another folder: remint init --dir FOLDER")
            throw ExitCode.failure
        }
        return Existing(text: text, configuration: configuration)
    }

    /// Adds the app and its key ring to `existing`. The ring is made first, so that a running worker reads an app whose
    /// key is there.
    func add(_ answers: SetupAnswers, to existing: Existing) throws {
        guard let starter = answers.configuration(isPlaintext: false, backend: nil) else { throw ExitCode.failure }
        try requireFreeNames(starter, in: existing.configuration)
        guard let text = starter.added(to: existing.text) else {
            throw SetupRefused(
                description: "\(files.configuration) has no sections keys and apps with an entry on a line of its own; "
                    + "add the app by hand, then its key: remint keys import")
        }
        let ring = try ring(of: starter, in: text)
        guard !KeyFile.exists(ring.directory.path) else {
            throw SetupRefused(description: "\(ring.directory.path) exists already; name another app: --app NAME")
        }
        try files.requireReplaceable()
        let key = try key(for: ring, answers)
        let added: RingInUse.AddedKey
        do {
            added = try store(key, in: ring, answers)
            try files.replaceConfiguration(existing.text, by: text)
        } catch {
            // The folder did not exist before this call.
            try? FileManager.default.removeItem(atPath: ring.directory.path)
            throw error
        }
        try ring.tell(added)
        guard let adapter = ring.apps.first?.adapter else { return }
        let hasGateway = existing.configuration.pickup != nil && KeyFile.exists(files.backendKey)
        let keyFile = hasGateway ? files.backendKey : nil
        let steps = FirstSteps(adding: starter, adapter: adapter, keyFile: keyFile).steps
        let report = "\(files.configuration) has the app \(starter.app) now, with the key ring \(ring.directory.path)."
        let opening = existing.configuration.pickup == nil ? [] : [FirstSteps.opening(starter)]
        printSteps(["", "\(report) A running worker reads it by itself. Next:"] + Self.lines(of: steps) + opening)
    }

    private func requireFreeNames(_ starter: StarterConfiguration, in configuration: Configuration) throws {
        guard !configuration.apps.contains(where: { $0.name == starter.app }),
            !configuration.keys.contains(where: { $0.name == starter.app })
        else {
            throw SetupRefused(
                description: "\(files.configuration) has an app or a key ring \(starter.app) already; "
                    + "name another app: --app NAME")
        }
    }
}

extension InitCommand {
    /// Returns the answers of the options, of the person at the terminal and, without a terminal, the standard ones.
    ///
    /// - Parameter configuration: the configuration to which the app is added; nil for a new one.
    /// - Throws: `ValidationError` that names the missing option.
    func answered(adding configuration: Configuration?) throws -> SetupAnswers {
        var answers = SetupAnswers(registry: .remint)
        if let configuration { answers.add(toBrokers: configuration.kafka.bootstrapServers) }
        do throws(SetupMistake) { try note(&answers) } catch { throw ValidationError("\(error)") }
        while let question = answers.next {
            if Terminal.isInteractive {
                try ask(question, &answers)
            } else if let standard = answers.standard(for: question) {
                try answers.answer(question, standard)
            } else {
                throw ValidationError("\(question.option) is missing (\(question.words))")
            }
        }
        return answers
    }

    /// Notes the answers that options give.
    private func note(_ answers: inout SetupAnswers) throws(SetupMistake) {
        if let vendor { try answers.answer(.vendor, vendor) }
        for setting in settings { try answers.set(setting) }
        if let app { try answers.answer(.app, app) }
        if generate { try answers.answer(.key, "") }
        if let imported { try answers.answer(.key, imported) }
        if let brokers { try answers.answer(.brokers, brokers) }
        if gateway || ownEdge { try answers.answer(.gateway, gateway ? "yes" : "no") }
    }

    /// Asks once. After an answer that cannot be used, the question is still open.
    ///
    /// - Throws: `ValidationError` at the end of the input.
    private func ask(_ question: SetupQuestion, _ answers: inout SetupAnswers) throws {
        let standard = answers.standard(for: question)
        let hint = standard.map { " [\($0)]" } ?? ""
        guard let line = Terminal.ask("\(question.words)\(hint): ") else {
            throw ValidationError("no answer; give it with \(question.option)")
        }
        let text = line.split(separator: " ").joined(separator: " ")
        do throws(SetupMistake) { try answers.answer(question, text.isEmpty ? standard ?? "" : text) } catch {
            Terminal.error("\(error)")
        }
    }
}
