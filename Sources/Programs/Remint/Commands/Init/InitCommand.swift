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
