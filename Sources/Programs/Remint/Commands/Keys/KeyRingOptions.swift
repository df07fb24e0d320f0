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

/// `--clock-tolerance`, how far the operator's clock may be ahead.
struct ClockToleranceOption: ParsableArguments {
    @Option(
        name: .customLong("clock-tolerance"),
        help: ArgumentHelp(
            """
            Maximum time that this machine's clock may be ahead of the workers' clocks. For this time after its \
            expiry, a token still counts as live.
            """, valueName: "15m"))
    var text = DurationText.format(seconds: ClockTolerance.standard.seconds)

    func validate() throws {
        guard DurationText.parseOrZero(text) != nil else {
            throw ValidationError("--clock-tolerance is a duration such as 0s or 15m")
        }
    }

    /// The tolerance that was given.
    var tolerance: ClockTolerance {
        DurationText.parseOrZero(text).map { ClockTolerance(seconds: $0.components.seconds) } ?? .standard
    }
}

/// The options of a new version, such as its id and its longest life.
struct NewVersionOptions: ParsableArguments {
    @Option(help: "The version's id. Default: the month, such as 2026-11, or the kid of a JWK.") var id: String?
    @Option(help: "The key's id at the vendor, which is the kid of the tokens. Default: the version's id.")
    var kid: String?
    @Option(help: ArgumentHelp("The algorithm. Default: the vendor's.", valueName: "RS256")) var algorithm: Algorithm?
    @Option(
        help: ArgumentHelp(
            "Encoding of the file with a shared secret: utf8, hex, base64 or base64url.", valueName: "hex"))
    var encoding: SecretEncoding?
    @Option(
        help: ArgumentHelp(
            "Latest expiry of the version's tokens: a duration from now, or a date-time.", valueName: "365d"))
    var retireAfter: String?
    @Flag(help: "Print the result as JSON.") var json = false

    func end(from now: UnixTime) throws -> UnixTime? {
        guard let text = retireAfter else { return nil }
        if let duration = DurationText.parse(text) { return now.advanced(bySeconds: duration.components.seconds) }
        guard let time = RFC3339.parse(text), time > now else {
            throw ValidationError(
                "--retire-after is a duration such as 365d, or a date-time to come such as 2027-01-01T00:00:00Z")
        }
        return time
    }
}

/// `--rsa-bits`, the size of a new RSA key.
struct RSABitsOption: ParsableArguments {
    @Option(
        name: .customLong("rsa-bits"),
        help: ArgumentHelp("Bits of an RSA key: 2048, 3072 or 4096.", valueName: "2048"))
    var bits = 2048

    func validate() throws {
        guard [2048, 3072, 4096].contains(bits) else { throw ValidationError("--rsa-bits is 2048, 3072 or 4096") }
    }
}
