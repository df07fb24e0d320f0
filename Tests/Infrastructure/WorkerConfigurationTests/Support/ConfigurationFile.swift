import AdapterKit
import BloomreachAdapter
import BrazeAdapter
import DotdigitalAdapter
import Testing
import WorkerConfiguration

/// A `remint.yaml` in memory, with an environment and files beside it.
struct ConfigurationFile {
    static let name = "conf/remint.yaml"
    static let registry = AdapterRegistry([
        .init(BrazeAdapter.self), .init(DotdigitalAdapter.self), .init(BloomreachAdapter.self),
    ])

    var text: String
    var environment: [String: String] = [:]
    var files: [String: String] = [:]
    var adapters = Self.registry

    init(_ text: String, environment: [String: String] = [:], files: [String: String] = [:]) {
        self.text = text
        self.environment = environment
        self.files = files
    }

    /// The reader's answer.
    func read() -> (configuration: Configuration?, diagnostics: [Diagnostic]) {
        let environment = environment
        let files = files.merging([Self.name: text]) { _, own in own }
        return ConfigurationReader(
            registry: adapters, source: ConfigurationSource(environment: { environment[$0] }, file: { files[$0] })
        ).read(Self.name)
    }

    /// The configuration, which must be without errors.
    func configuration() throws -> Configuration {
        let (configuration, diagnostics) = read()
        #expect(!diagnostics.contains { $0.severity == .error }, "\(diagnostics)")
        return try #require(configuration)
    }

    /// The errors as a compiler would print them; there must be no configuration beside one.
    func errors() -> [String] {
        let (configuration, diagnostics) = read()
        let errors = diagnostics.filter { $0.severity == .error }.map(\.description)
        #expect((configuration == nil) == !errors.isEmpty)
        return errors
    }
}

/// The smallest configuration that is right, for tests to add one mistake to.
enum SampleText {
    static let minimal = """
        kafka:
          bootstrap_servers: 127.0.0.1:9092
        keys:
          shop: { path: keys/shop }
          push: { path: /var/keys/push }
        apps:
          ios:
            adapter: braze
            key: shop

        """

    /// `minimal` with `more` after it.
    static func with(_ more: String) -> ConfigurationFile { ConfigurationFile(minimal + more) }

    /// `minimal` with one string in place of another, which must be in it.
    static func replacing(_ old: String, _ new: String) -> ConfigurationFile {
        let pieces = minimal.split(separator: old, maxSplits: 1, omittingEmptySubsequences: false)
        #expect(pieces.count == 2, "\(old)")
        return ConfigurationFile(pieces.joined(separator: new))
    }
}

/// A file with mistakes, and every line that must be reported about them.
struct Mistake: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let file: ConfigurationFile
    /// FileLocation and message of each error: `7:5 the message`; a message may stop anywhere.
    let says: [String]

    init(_ name: String, _ file: ConfigurationFile, says: String...) {
        testDescription = name
        self.file = file
        self.says = says
    }

    /// Checks the file's errors against `says`, in their order.
    func check() {
        let errors = file.errors()
        let wanted = says.map { say in
            let parts = say.split(separator: " ", maxSplits: 1)
            return "\(ConfigurationFile.name):\(parts[0]): error: \(parts.count > 1 ? parts[1] : "")"
        }
        #expect(errors.count == wanted.count, "\(errors.joined(separator: "\n"))")
        for (error, wanted) in zip(errors, wanted) { #expect(error.hasPrefix(wanted)) }
        for error in errors { #expect(!error.contains { $0.isNewline }) }
    }
}
