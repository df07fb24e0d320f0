import Foundation
import ProgramTestSupport
import Testing

extension Scenarios {
    /// The arrows of Sources/README.md, checked over the import lines; the manifest's list, checked against the folders.
    @Suite struct ArchitectureTests {
        /// The modules of this package that each module may import; anything else outside may be imported by the
        /// modules named below.
        private static let allowed: [String: Set<String>] = [
            "Formats": [],
            "JOSE": ["COpenSSL", "Formats"],
            "Records": ["Formats"],
            "Spans": ["Formats"],
            "AdapterKit": ["JOSE"],
            "AdapterTestKit": ["AdapterKit", "JOSE"],
            "StubServer": ["AdapterKit"],
            "Keyring": ["JOSE"],
            "Pipeline": ["AdapterKit", "Records", "Spans"],
            "Kafka": ["CRdKafka", "Records"],
            "Access": ["JOSE"],
            "YAMLReading": [],
            "DeclaredAdapters": ["AdapterKit", "Formats", "JOSE", "YAMLReading"],
            "DeclaredTesting": ["AdapterKit", "AdapterTestKit", "DeclaredAdapters", "YAMLReading"],
            "WorkerConfiguration": ["AdapterKit", "DeclaredAdapters", "Formats", "YAMLReading"],
            "Telemetry": ["Formats", "Spans"],
            "HTTPTransport": ["Formats", "JOSE"],
            "OTLP": ["Formats", "HTTPTransport", "Spans", "Telemetry"],
            "Signing": ["Pipeline", "AdapterKit", "Keyring", "JOSE", "Telemetry"],
            "VendorLookup": ["HTTPTransport", "Pipeline", "AdapterKit", "JOSE", "Telemetry", "Formats"],
            "BrokerTokens": ["Formats", "HTTPTransport", "JOSE", "Kafka", "Telemetry", "WorkerConfiguration"],
            "Serving": ["JOSE", "Wiring"],
            "Wiring": [
                "Pipeline", "AdapterKit", "BrokerTokens", "HTTPTransport", "Kafka", "VendorLookup", "Keyring", "JOSE",
                "Formats", "WorkerConfiguration", "OTLP", "Spans", "Telemetry",
            ],
            "Preflight": [
                "AdapterKit", "Formats", "JOSE", "Keyring", "Serving", "Signing", "Wiring", "WorkerConfiguration",
            ],
            "Worker": [
                "Pipeline", "AdapterKit", "BrokerTokens", "HTTPTransport", "Kafka", "Signing", "VendorLookup",
                "Keyring", "JOSE", "Formats", "WorkerConfiguration", "OTLP", "Spans", "Telemetry", "Preflight",
                "Serving", "Wiring",
            ],
            "Pickup": [
                "Access", "Formats", "HTTPTransport", "Serving", "Wiring", "Pipeline", "AdapterKit", "Kafka", "JOSE",
                "OTLP", "Spans",
                "WorkerConfiguration", "Telemetry",
            ],
            "WorkerTesting": [
                "Preflight", "Wiring", "Pipeline", "Records", "AdapterKit", "Signing", "Keyring", "JOSE", "Formats",
                "WorkerConfiguration",
                "DeclaredAdapters", "DeclaredTesting", "YAMLReading",
            ],
            "Operations": [
                "Formats", "Wiring", "Pipeline", "AdapterKit", "Kafka", "Keyring", "JOSE", "WorkerConfiguration",
            ],
            "remint": [
                "Worker", "Preflight", "Wiring", "Serving", "Pickup", "Access", "Formats", "HTTPTransport", "Signing",
                "Operations", "Pipeline",
                "AdapterKit", "AdapterTestKit",
                "Kafka",
                "Keyring",
                "JOSE", "WorkerConfiguration",
                "Telemetry", "CommandKit", "Demonstration", "Vendors", "DeclaredAdapters", "DeclaredTesting",
                "WorkerTesting", "YAMLReading",
            ],
            "Demonstration": [
                "Worker", "Preflight", "Wiring", "Pickup", "Access", "HTTPTransport", "Pipeline", "AdapterKit",
                "AdapterTestKit", "Kafka",
                "Keyring", "JOSE", "WorkerConfiguration", "StubServer", "Vendors",
            ],
            "Vendors": ["AdapterKit", "AdapterTestKit", "DeclaredAdapters", "DeclaredTesting", "ShippedVendors"],
            "CommandKit": [
                "AdapterKit", "DeclaredAdapters", "Kafka", "Operations", "WorkerConfiguration", "YAMLReading",
            ],
            "Bench": ["Pipeline", "AdapterKit", "AdapterTestKit", "Vendors", "JOSE", "Keyring"],
            "Instructions": ["AdapterKit", "Bench", "DeclaredAdapters", "DeclaredTesting", "Vendors"],
            "remint-bench": [
                "Bench", "CommandKit", "Demonstration", "Serving", "Wiring", "Operations", "Pipeline", "AdapterKit",
                "AdapterTestKit", "Kafka", "Keyring", "JOSE", "WorkerConfiguration", "Vendors", "DeclaredAdapters",
                "DeclaredTesting",
            ],
        ]

        /// Everything from outside that a module may use.
        private static let outside: [String: Set<String>] = [
            "Formats": ["Synchronization"], "Records": [], "Spans": [], "JOSE": ["Glibc", "Synchronization"],
            "AdapterKit": [],
            "AdapterTestKit": ["Foundation"],
            "Keyring": ["Glibc", "Synchronization"], "Access": ["Synchronization"],
            "StubServer": ["Glibc", "NIOCore", "NIOHTTP1", "NIOPosix", "NIOSSL", "Synchronization"],
            "Pipeline": ["DequeModule"],
            "Kafka": ["Dispatch", "Glibc", "Logging", "Synchronization"],
            "WorkerConfiguration": ["Glibc", "Synchronization", "Yams"],
            "YAMLReading": ["Yams"], "DeclaredAdapters": ["Yams"], "DeclaredTesting": ["Foundation"],
            "Telemetry": ["Foundation", "Logging", "Synchronization", "Tracing"],
            "HTTPTransport": [
                "AsyncHTTPClient", "Glibc", "Logging", "NIOCore", "NIOHTTP1", "NIOPosix", "NIOSSL", "Synchronization",
            ],
            "OTLP": ["Logging"], "Vendors": ["Foundation"], "CommandKit": ["ArgumentParser", "Foundation"],
            "Instructions": ["Foundation", "Synchronization"],
            "Demonstration": ["Foundation", "Logging", "Synchronization"],
            "Bench": ["Dispatch", "Foundation", "Synchronization"],
            "remint-bench": ["ArgumentParser", "Foundation", "Logging", "NIOCore", "NIOHTTP1", "NIOPosix"],
            "Signing": [
                "Dispatch", "Glibc", "Logging", "NIOCore", "NIOPosix", "ServiceLifecycle", "Synchronization",
            ],
            "VendorLookup": ["Logging", "Synchronization"],
            "BrokerTokens": ["Foundation", "Logging", "Synchronization"],
            "Serving": [
                "Foundation", "Glibc", "HummingbirdCore", "HummingbirdTLS", "Logging", "NIOCore", "NIOSSL",
                "Synchronization",
            ],
            "Wiring": ["Glibc", "Logging", "NIOSSL", "Synchronization"], "Preflight": [],
            "Worker": [
                "Glibc", "HTTPTypes", "Hummingbird", "HummingbirdCore", "HummingbirdTLS", "Logging", "NIOCore",
                "NIOSSL", "ServiceLifecycle", "Synchronization",
            ],
            "Pickup": [
                "DequeModule", "Foundation", "HTTPTypes", "Hummingbird", "HummingbirdCore", "HummingbirdTLS",
                "Logging", "NIOCore", "NIOHTTP1", "NIOHTTPTypes", "NIOHTTPTypesHTTP1", "NIOSSL", "ServiceLifecycle",
                "Synchronization",
            ],
            "WorkerTesting": ["Synchronization", "Yams"],
            "Operations": ["Foundation", "Glibc", "Logging", "Synchronization"],
            "remint": [
                "ArgumentParser", "Dispatch", "Foundation", "Logging", "ServiceLifecycle", "Synchronization", "Tracing",
                "UnixSignals",
            ],
        ]

        /// The measurements, which share a folder.
        private static let measurements = ["Bench", "Instructions", "remint-bench"]

        private static func folder(of module: String) -> String {
            measurements.contains(module) ? "Sources/Bench/\(module)" : "Sources/\(module)"
        }

        private func imports(of file: URL) throws -> Set<String> {
            let text = try String(contentsOf: file, encoding: .utf8)
            let pattern =
                /^(?:@_exported |@_spi\([A-Za-z]+\) )*(?:public |package |private )?import (?:struct |class |enum |func )?([A-Za-z0-9_]+)/
            return Set(text.split(separator: "\n").compactMap { $0.firstMatch(of: pattern).map { String($0.1) } })
        }

        @Test(arguments: allowed.keys.sorted())
        func `a module imports only what the map allows`(module: String) throws {
            let adapters = ["Vendors", "Bench"].contains(module) ? try vendors().map { "\($0)Adapter" } : []
            let permitted = (Self.allowed[module] ?? []).union(Self.outside[module] ?? []).union(adapters)
            let files = Repository.files(under: Self.folder(of: module), ending: "swift")
            #expect(!files.isEmpty)
            for file in files {
                let extra = try imports(of: file).subtracting(permitted)
                #expect(extra.isEmpty, "\(module)/\(file.lastPathComponent) imports \(extra.sorted())")
            }
        }

        /// The modules that `module` rests on, itself among them.
        private func reach(of module: String) -> Set<String> {
            var found: Set<String> = [module]
            var open = [module]
            while let next = open.popLast() {
                for used in Self.allowed[next] ?? [] where found.insert(used).inserted { open.append(used) }
            }
            return found
        }

        /// The gateway faces the internet, telemetry is below the mint, and a reader of files is a large surface beside keys.
        @Test func `the gateway cannot reach private keys, telemetry not the pipeline, signing no YAML`() {
            #expect(reach(of: "Worker").contains("Signing") && reach(of: "Worker").contains("Pipeline"))
            #expect(!reach(of: "Pickup").contains("Signing") && !reach(of: "Pickup").contains("Worker"))
            #expect(!reach(of: "Operations").contains("Worker"))
            #expect(!reach(of: "OTLP").contains("Pipeline"))
            #expect(reach(of: "Preflight").isSuperset(of: ["WorkerConfiguration", "YAMLReading"]))
            #expect(reach(of: "Signing").isDisjoint(with: ["WorkerConfiguration", "YAMLReading", "DeclaredAdapters"]))
        }

        @Test func `the program contains no measurement`() {
            #expect(reach(of: "remint-bench").contains("Bench"))
            #expect(reach(of: "remint").isDisjoint(with: Self.measurements))
        }

        @Test func `every folder of Sources is on the map`() throws {
            let folders = try ["Sources", "Sources/Bench"].flatMap {
                try FileManager.default.contentsOfDirectory(atPath: Repository.root.appending(path: $0).path)
            }
            .filter { !$0.hasSuffix(".md") && !["COpenSSL", "CRdKafka"].contains($0) }
            #expect(Set(folders) == Set(Self.allowed.keys))
        }

        @Test func `an adapter imports AdapterKit and nothing else of ours`() throws {
            for file in Repository.files(under: "adapters", ending: "swift") where file.path.contains("/Sources/") {
                let extra = try imports(of: file).subtracting(["AdapterKit", "FoundationEssentials"])
                #expect(extra.isEmpty, "\(file.path) imports \(extra.sorted())")
            }
        }

        @Test func `the manifest lists the adapters there are`() throws {
            let folders = try FileManager.default.contentsOfDirectory(
                atPath: Repository.root.appending(path: "adapters").path
            )
            .filter { !$0.hasSuffix(".md") && $0 != "declared" }
            #expect(try vendors() == Set(folders))
        }

        /// The vendors, as the manifest lists them.
        private func vendors() throws -> Set<String> {
            let manifest = try String(contentsOf: Repository.root.appending(path: "Package.swift"), encoding: .utf8)
            let list = try #require(manifest.firstMatch(of: /let vendors = \[([^\]]*)\]/)).1
            return Set(list.matches(of: /"([A-Za-z]+)"/).map { String($0.1) })
        }

        /// A folder may use another, or be used by it.
        @Test(arguments: allowed.keys.sorted()) func `folders form no circle`(module: String) throws {
            let folders = try FolderGraph(of: Self.folder(of: module))
            #expect(folders.circle == [], "\(module)")
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

        @Test func `only the program and the worker touch process-wide state`() throws {
            let forbidden =
                /LoggingSystem\.bootstrap|InstrumentationSystem\.bootstrap|MetricsSystem\.bootstrap|ProcessInfo\.processInfo\.environment|getenv\(/
            for module in Self.allowed.keys where !["Wiring", "Worker", "remint"].contains(module) {
                for file in Repository.files(under: Self.folder(of: module), ending: "swift") {
                    let text = try String(contentsOf: file, encoding: .utf8)
                    #expect(text.firstMatch(of: forbidden) == nil, "\(file.path)")
                }
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
