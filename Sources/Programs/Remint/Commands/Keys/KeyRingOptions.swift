import AdapterKit
public import ArgumentParser
public import JOSE
import Keyring
import Operations
import WorkerConfiguration

/// The option that selects a key ring.
struct KeyRingOptions: ParsableArguments {
    @OptionGroup var options: ConfigurationOptions
    @Option(
        name: .shortAndLong,
        help: "Name of the key ring, from keys in the configuration. Required if there are several rings.")
    var key: String?

    /// - Throws: `ValidationError` that names the known ones.
    func load() throws -> RingInUse {
        let configuration = try options.loadConfiguration()
        let known = configuration.keys.map(\.name).joined(separator: ", ")
        guard let name = key ?? (configuration.keys.count == 1 ? configuration.keys[0].name : nil) else {
            throw ValidationError("name the key ring with --key; the configuration has: \(known)")
        }
        guard let ring = configuration.keys.first(where: { $0.name == name }) else {
            throw ValidationError("no key ring is called \(name) in \(options.config); known: \(known)")
        }
        guard let path = ring.path else {
            throw ValidationError(
                "the key ring \(name) is behind a signer; run this with the signer's own configuration, which has its path"
            )
        }
        return RingInUse(
            configuration: configuration, ring: ring, directory: KeyRingDirectory(path: path),
            now: CommandContext.current.now)
    }
}

extension Algorithm: ExpressibleByArgument {
    /// The algorithm with the name `argument`; nil for an unknown name.
    public init?(argument: String) { self.init(named: argument) }

    /// The names that a command accepts.
    public static var allValueStrings: [String] { allCases.flatMap(\.names) }
}

extension SecretEncoding: ExpressibleByArgument {}
