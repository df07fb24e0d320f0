import Foundation
import ProgramTestSupport
import Testing

extension Scenarios {
    /// The layers and arrows of Sources/README.md: the manifest's, checked against the import lines and the folders.
    @Suite struct ArchitectureTests {
        /// The modules of the system that a module imports, which are not in the manifest.
        private static let system: [String: Set<String>] = [
            "RemintClient": ["Foundation", "FoundationNetworking"],
            "JOSE": ["Glibc", "Synchronization"],
            "AdapterTestKit": ["Foundation", "Synchronization"],
            "StubServer": ["Glibc", "Synchronization"],
            "Keyring": ["Glibc", "Synchronization"],
            "Access": ["Synchronization"],
            "Kafka": ["Dispatch", "Glibc", "Synchronization"],
            "DeclaredTesting": ["Foundation"],
            "WorkerConfiguration": ["Glibc", "Synchronization"],
            "Telemetry": ["Foundation", "Glibc", "Synchronization"],
            "Signing": ["Dispatch", "Glibc", "Synchronization"],
            "HTTPTransport": ["Glibc", "Synchronization"],
            "VendorLookup": ["Synchronization"],
            "BrokerTokens": ["Foundation", "Synchronization"],
            "Serving": ["Foundation", "Glibc", "Synchronization"],
            "Wiring": ["Glibc", "Synchronization"],
            "Worker": ["Glibc", "Synchronization"],
            "Pickup": ["Foundation", "Synchronization"],
            "Operations": ["Foundation", "Glibc", "Synchronization"],
            "WorkerTesting": ["Synchronization"],
            "Vendors": ["Foundation", "Synchronization"],
            "CommandKit": ["Foundation", "Synchronization"],
            "Demonstration": ["Foundation", "Synchronization"],
            "Remint": ["Dispatch", "Foundation", "Synchronization"],
            "Bench": ["Dispatch", "Foundation", "Synchronization"],
            "Instructions": ["Foundation", "Synchronization"],
            "remint-bench": ["Foundation"],
        ]

        /// The measurements: two programs and what they share.
        private static let measurements = ["Bench", "Instructions", "remint-bench"]

        private func imports(of file: URL) throws -> Set<String> {
            let text = try String(contentsOf: file, encoding: .utf8)
            let pattern =
                /^(?:@_exported |@_spi\([A-Za-z]+\) )*(?:public |package |private )?import (?:struct |class |enum |func )?([A-Za-z0-9_]+)/
            return Set(text.split(separator: "\n").compactMap { $0.firstMatch(of: pattern).map { String($0.1) } })
        }

        @Test func `a module imports what the manifest names, no more and no less`() async throws {
            for module in try await Manifest.current.modules {
                let files = Repository.files(under: module.path, ending: "swift")
                #expect(!files.isEmpty)
                let all = try files.reduce(into: Set<String>()) { $0.formUnion(try imports(of: $1)) }
                let extra = all.subtracting(module.uses).subtracting(Self.system[module.name] ?? [])
                #expect(extra.isEmpty, "\(module.name) imports \(extra.sorted())")
                let unused = module.uses.subtracting(all)
                #expect(unused.isEmpty, "\(module.name) imports no \(unused.sorted())")
            }
        }

        @Test func `a module rests on its own layer and on lower ones, and each layer has a page`() async throws {
            let manifest = try await Manifest.current
            let layers = try layersFromLowest()
            let homes = manifest.targets.reduce(into: [String: Int]()) { homes, target in
                homes[target.name] = target.layer.flatMap { layers.firstIndex(of: $0) }
            }
            for module in manifest.modules {
                let layer = try #require(homes[module.name], "\(module.name) is on no layer")
                let above = module.uses.filter { homes[$0].map { $0 > layer } ?? false }
                #expect(above.isEmpty, "\(module.name) imports \(above.sorted()) from above")
            }
            let root = Repository.root.appending(path: "Sources")
            let folders = try FileManager.default.contentsOfDirectory(atPath: root.path).filter { !$0.hasSuffix(".md") }
            #expect(Set(folders) == Set(layers))
            for layer in layers {
                let page = try String(contentsOf: root.appending(path: "\(layer)/README.md"), encoding: .utf8)
                let modules = try FileManager.default.contentsOfDirectory(atPath: root.appending(path: layer).path)
                    .filter { !$0.hasSuffix(".md") }
                for module in modules { #expect(page.contains("`\(module)`"), "\(layer)/README.md lacks \(module)") }
                #expect(Set(modules) == Set(manifest.targets.filter { $0.layer == layer }.map(\.name)))
            }
        }

        /// The gateway faces the internet, telemetry is below the mint, and a reader of files is a large surface beside keys.
        @Test func `the gateway cannot reach private keys, telemetry not the pipeline, signing no YAML`() async throws {
            let manifest = try await Manifest.current
            #expect(
                manifest.reach(of: "Worker").contains("Signing") && manifest.reach(of: "Worker").contains("Pipeline"))
            #expect(
                !manifest.reach(of: "Pickup").contains("Signing") && !manifest.reach(of: "Pickup").contains("Worker"))
            #expect(!manifest.reach(of: "Operations").contains("Worker"))
            #expect(!manifest.reach(of: "OTLP").contains("Pipeline"))
            #expect(manifest.reach(of: "Preflight").isSuperset(of: ["WorkerConfiguration", "YAMLReading"]))
            #expect(
                manifest.reach(of: "Signing").isDisjoint(with: [
                    "WorkerConfiguration", "YAMLReading", "DeclaredAdapters",
                ]))
        }

        @Test func `the program contains no measurement`() async throws {
            let manifest = try await Manifest.current
            #expect(manifest.reach(of: "remint-bench").contains("Bench"))
            #expect(manifest.reach(of: "remint-program").isDisjoint(with: Self.measurements))
        }

        @Test func `an adapter imports AdapterKit, a stub's module and nothing else of ours`() throws {
            for file in Repository.files(under: "adapters", ending: "swift")
            where file.path.contains("/Sources/") && !file.path.contains("/Sources/example-remint/") {
                let extra = try imports(of: file).subtracting(["AdapterKit", "AdapterStubs", "FoundationEssentials"])
                #expect(extra.isEmpty, "\(file.path) imports \(extra.sorted())")
            }
        }

        @Test func `the manifest lists the adapters there are`() throws {
            let root = Repository.root.appending(path: "adapters")
            // The example is a package of its own.
            let folders = try FileManager.default.contentsOfDirectory(atPath: root.path).filter {
                !$0.hasSuffix(".md") && $0 != "declared"
                    && !FileManager.default.fileExists(atPath: root.appending(path: "\($0)/Package.swift").path)
            }
            #expect(try vendors() == Set(folders))
        }

        /// The vendors, as the manifest lists them.
        private func vendors() throws -> Set<String> {
            let manifest = try String(contentsOf: Repository.root.appending(path: "Package.swift"), encoding: .utf8)
            let list = try #require(manifest.firstMatch(of: /let vendors = \[([^\]]*)\]/)).1
            return Set(list.matches(of: /"([A-Za-z]+)"/).map { String($0.1) })
        }

        /// The layers' names from the lowest up, as the manifest lists them.
        private func layersFromLowest() throws -> [String] {
            let manifest = try String(contentsOf: Repository.root.appending(path: "Package.swift"), encoding: .utf8)
            let table = try #require(manifest.firstMatch(of: /let layers: KeyValuePairs = \[\n((?:    .*\n)*)\]/)).1
            return table.matches(of: /"([A-Za-z]+)": \[/).map { String($0.1) }
        }

        /// A folder may use another, or be used by it.
        @Test func `folders form no circle`() async throws {
            for module in try await Manifest.current.modules {
                #expect(try FolderGraph(of: module.path).circle == [], "\(module.name)")
            }
        }

        @Test func `a circle of folders is found`() {
            let graph = FolderGraph(texts: [
                "A": ["struct One {\n    let two: Two\n}"], "B": ["struct Two {}\nlet text = \"One\" // One"],
                "C": ["struct Three {\n    let four: Four\n}"], "D": ["enum Four {\n    case three(Three)\n}"],
            ])
            #expect(Set(graph.circle) == ["C", "D"])
        }

        @Test func `a circle through a file beside the folders is found, and none between such files`() {
            let graph = FolderGraph(
                texts: ["A": ["struct One {\n    let two: Two\n}"], "B": ["struct Four {}"]],
                files: [
                    "Two.swift": "struct Two {}\nextension Two {\n    init(_ one: One) {}\n}",
                    "Three.swift": "struct Three {\n    let five: Five, four: Four\n}",
                    "Five.swift": "struct Five {\n    let three: Three\n}",
                ])
            #expect(graph.circle == ["A", "Two.swift"])
        }

        @Test func `only the program and the worker touch process-wide state`() async throws {
            let forbidden =
                /LoggingSystem\.bootstrap|InstrumentationSystem\.bootstrap|MetricsSystem\.bootstrap|ProcessInfo\.processInfo\.environment|getenv\(/
            for module in try await Manifest.current.modules
            where !["Wiring", "Worker", "Remint", "CommandKit"].contains(module.name) {
                for file in Repository.files(under: module.path, ending: "swift") {
                    let text = try String(contentsOf: file, encoding: .utf8)
                    #expect(text.firstMatch(of: forbidden) == nil, "\(file.path)")
                }
            }
        }

        @Test func `the lock file names a commit of each package, at its public place`() throws {
            let lock = try Data(contentsOf: Repository.root.appending(path: "config/Package.resolved"))
            let root = try #require(JSONSerialization.jsonObject(with: lock) as? [String: Any])
            let pins = try #require(root["pins"] as? [[String: Any]])
            #expect(pins.count > 20)
            for pin in pins {
                #expect((pin["location"] as? String)?.hasPrefix("https://github.com/") == true, "\(pin)")
                #expect(((pin["state"] as? [String: String])?["revision"] ?? "").utf8.count == 40, "\(pin)")
            }
        }

        @Test func `the repository's top level has no unknown entry`() throws {
            let known: Set<String> = [
                "Package.swift", "Package.resolved", "Makefile", "README.md", "LICENSE", "Sources", "Tests", "adapters",
                "config",
            ]
            let found = try FileManager.default.contentsOfDirectory(atPath: Repository.root.path).filter {
                !$0.hasPrefix(".")
            }
            #expect(Set(found).subtracting(known) == [])
        }
    }
}
