import AdapterKit
import Foundation
import ProgramTestSupport
import Testing
import Vendors
import WorkerConfiguration

/// A configuration in a file under `Fixtures`. Its first lines are what must be reported about it:
///
///     # environment: NAME=value
///     # schema: accepts
///     # error: 4:10 the message, to its end
///
/// A place in another file has that file's path in front. Without a line on the schema it takes what is right and refuses what is wrong.
struct Fixture: CustomTestStringConvertible, Sendable {
    /// The file without its ending.
    let name: String
    /// The file.
    let path: String
    /// Its text.
    var text: String
    /// The variables of the environment.
    let environment: [String: String]
    /// Every diagnostic, in order.
    let says: [String]

    var testDescription: String { name }

    /// Those of a folder, by name.
    static func all(in folder: String) -> [Fixture] {
        Repository.files(under: "Tests/Infrastructure/WorkerConfigurationTests/Fixtures/\(folder)", ending: "yaml")
            .compactMap(Fixture.init).sorted { $0.name < $1.name }
    }

    init?(_ file: URL) {
        guard let text = try? String(contentsOf: file, encoding: .utf8) else { return nil }
        name = file.deletingPathExtension().lastPathComponent
        path = file.path
        self.text = text
        var environment: [String: String] = [:]
        var says: [String] = []
        for line in text.split(separator: "\n").prefix(while: { $0.hasPrefix("# ") }) {
            if let match = line.firstMatch(of: #/^# environment: (\w+)=(.*)$/#) {
                environment[String(match.1)] = String(match.2)
            } else if line.firstMatch(of: #/^# (error|warning): /#) != nil {
                says.append(String(line.dropFirst(2)))
            }
        }
        self.environment = environment
        self.says = says
    }

    /// The reader's answer.
    func read() -> (configuration: Configuration?, diagnostics: [Diagnostic]) { reader.read(path) }

    /// Returns the effective configuration of the fixture, and the diagnostics.
    func effective() -> (configuration: EffectiveConfiguration?, diagnostics: [Diagnostic]) { reader.effective(path) }

    /// The diagnostics in the spelling of the first lines.
    func lines(_ diagnostics: [Diagnostic]) -> [String] {
        let folder = path.prefix { _ in true }.split(separator: "/", omittingEmptySubsequences: false).dropLast()
            .joined(separator: "/")
        return diagnostics.map { diagnostic in
            let place = diagnostic.place
            let file = place.file == path ? "" : place.file.replacing("\(folder)/", with: "") + ":"
            return "\(diagnostic.severity): \(file)\(place.line):\(place.column) \(diagnostic.message)"
        }
    }

    private var reader: ConfigurationReader {
        let (path, text, environment) = (path, text, environment)
        return ConfigurationReader(
            registry: .remint,
            source: ConfigurationSource(
                environment: { environment[$0] },
                file: { $0 == path ? text : try? String(contentsOfFile: $0, encoding: .utf8) },
                secret: { file in
                    // A file of the repository has no mode of its own; one that is not there is refused as any is.
                    guard let contents = FileManager.default.contents(atPath: file) else {
                        return ConfigurationSource.guardedSecret(file)
                    }
                    return .contents(SecretBytes(copying: contents))
                }))
    }
}
