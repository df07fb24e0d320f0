import AdapterKit
import ArgumentParser
import JOSE
import Keyring
import WorkerConfiguration

/// `remint keys list`.
struct KeysList: ParsableCommand, ConfigurationCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists the versions of every key ring, or of one ring.",
        discussion: .help(
            examples: """
                remint keys list --config remint.yaml
                remint keys list --config remint.yaml --key shop --json
                """))

    @OptionGroup var options: ConfigurationOptions
    @Option(name: .shortAndLong, help: "Only this key ring.") var key: String?
    @Flag(help: "Print the list as JSON, one line for each version.") var json = false

    func run() throws {
        let configuration = try options.loadConfiguration()
        let rings = configuration.keys.filter { key == nil || $0.name == key }
        guard !rings.isEmpty else {
            throw ValidationError("known key rings: \(configuration.keys.map(\.name).joined(separator: ", "))")
        }
        var table = TextTable(
            "KEY RING", "VERSION", "STATE", "ALGORITHM", "KID", "CREATED", "ACTIVATED", "RETIRE AFTER", "APPS")
        for ring in rings {
            guard let path = ring.path else {
                Terminal.error("remint: \(ring.name) is behind the signer at \(ring.signer ?? "its socket")")
                continue
            }
            let apps = configuration.apps.filter { $0.key == ring.name }.map(\.name).joined(separator: ", ")
            for version in try KeyRingDirectory(path: path).readListing().versions {
                if json {
                    printJSON(version, of: ring.name)
                } else {
                    table.add(
                        ring.name, version.id, version.state.rawValue, version.algorithm.rawValue,
                        version.keyID ?? version.id, version.created?.description ?? "-",
                        version.activated?.description ?? "-", version.retireAfter?.description ?? "-", apps)
                }
            }
        }
        if !json { for line in table.lines { Terminal.print(line) } }
    }

    private func printJSON(_ version: ListedVersion, of ring: String) {
        var json = JSONWriter()
        json.beginObject()
        json.member("key_ring", ring)
        json.member("version", version.id)
        json.member("state", version.state.rawValue)
        json.member("algorithm", version.algorithm.rawValue)
        json.member("kid", version.keyID ?? version.id)
        for (name, time) in [
            ("created", version.created), ("activated", version.activated), ("retire_after", version.retireAfter),
        ] {
            if let time { json.member(name, time.description) }
        }
        json.endObject()
        Terminal.print(json.printable)
    }
}
