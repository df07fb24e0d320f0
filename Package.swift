// swift-tools-version: 6.2
import PackageDescription

// One block of settings for every target of the package. The import check that keeps the arrows of
// Sources/README.md pointing inward is a command-line flag; `make build` passes it.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

/// The settings of the modules that tests run most: optimized, with their assertions, in the builds of the tests. Only the
/// Makefile asks for it, because a package that others depend on may have no flags of this kind.
let optimized: [SwiftSetting] =
    Context.environment["REMINT_OPTIMIZED"] == "1"
    ? [.unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug))] : []

/// The modules that talk to C also say `unsafe` wherever they rely on it.
let borderSettings = settings + [.strictMemorySafety()]

/// The vendors. A folder under `adapters/` is a name here and a line in `Sources/Vendors/Registry.swift`;
/// a test compares this list with the folders.
let vendors = ["Braze", "OneSignal", "Bloomreach", "Dotdigital", "Infobip"]

/// The vendors that are files under `adapters/declared`; a test compares this list with the folder.
let declaredVendors = [
    "ably", "alchemer", "centrifugo", "ckeditor", "daily", "dynamics-omnichannel", "featurebase",
    "firebase-custom-token", "freshchat", "helpshift", "hundredms", "infobip-live-chat", "intercom", "iterable", "jaas",
    "jitsi",
    "knock", "kustomer", "livekit", "magicbell", "mapkit-js", "metabase", "moengage", "powersync", "pusher-beams",
    "salesforce-miaw", "sinch", "stream", "stringee", "supabase", "tableau", "talkjs", "tinymce", "tiptap", "twilio",
    "vonage-client", "watson-web-chat", "zendesk", "zoom-video",
]

/// The layers of `Sources`, from the lowest up. A module imports from its own layer and from lower ones. The tests of a module
/// are in the folder of its layer in `Tests`.
let layers: KeyValuePairs = [
    // Code for apps: it imports nothing of ours, and nothing of ours imports it.
    "Clients": ["RemintClient"],
    "Base": ["COpenSSL", "Formats", "JOSE", "Records", "Spans", "YAMLReading"],
    "Rules": ["Access", "AdapterKit", "DeclaredAdapters", "Keyring", "Pipeline"],
    "Infrastructure": [
        "BrokerTokens", "CRdKafka", "HTTPTransport", "Kafka", "OTLP", "Serving", "Signing", "Telemetry", "VendorLookup",
        "Wiring", "WorkerConfiguration",
    ],
    "Services": ["Operations", "Pickup", "Preflight", "Worker"],
    "Testing": ["AdapterStubs", "AdapterTestKit", "DeclaredTesting", "StubServer", "WorkerTesting"],
    "Programs": [
        "Bench", "CBuild", "CommandKit", "Demonstration", "Instructions", "Remint", "Vendors", "remint-bench",
        "remint-program",
    ],
]

let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let lifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let signals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
/// Channels over a clock that tests move.
let embedded = Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio")
let httpParts = Target.Dependency.product(name: "NIOHTTPTypes", package: "swift-nio-extras")
/// The server's own translation between HTTP's versions.
let httpCodec = Target.Dependency.product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras")
let deque = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
/// The server's own limits, which the module above it leaves out.
let hummingbirdCore = Target.Dependency.product(name: "HummingbirdCore", package: "hummingbird")
let hummingbirdTLS = Target.Dependency.product(name: "HummingbirdTLS", package: "hummingbird")
let nio = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let sockets = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let http = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let tls = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
/// What libraries that trace are written against.
let tracing = Target.Dependency.product(name: "Tracing", package: "swift-distributed-tracing")
let httpClient = Target.Dependency.product(name: "AsyncHTTPClient", package: "async-http-client")
let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")

func module(
    _ name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = [],
    settings: [SwiftSetting] = settings
) -> Target {
    .target(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: settings)
}

func tests(
    _ name: String, _ dependencies: [Target.Dependency], exclude: [String] = [], resources: [Resource] = []
) -> Target {
    .testTarget(
        name: name, dependencies: dependencies, exclude: exclude, resources: resources, swiftSettings: settings)
}

let adapterTargets: [Target] = vendors.flatMap { vendor -> [Target] in
    [
        .target(
            name: "\(vendor)Adapter", dependencies: ["AdapterKit", "AdapterStubs"], path: "adapters/\(vendor)",
            exclude: ["Tests", "README.md"], sources: ["Sources"], resources: [.copy("Fixtures")],
            // An adapter of this package sees what any other adapter sees.
            packageAccess: false, swiftSettings: settings),
        .testTarget(
            name: "\(vendor)AdapterTests",
            dependencies: [
                .target(name: "\(vendor)Adapter"), "AdapterTestKit", "AdapterTestSupport", "AsyncTestSupport",
                "AdapterKit",
            ],
            path: "adapters/\(vendor)/Tests", swiftSettings: settings),
    ]
}
/// The example of an adapter in a package of its own. Its targets are targets of this package too, so that every build compiles
/// them and every test runs them without a second build of all libraries. Like any other package's code, they see no `package`
/// declaration. A test compares them with the example's own manifest.
let exampleTargets: [Target] = [
    .target(
        name: "ExampleChat", dependencies: ["AdapterKit"], path: "adapters/Example/Sources/ExampleChat",
        resources: [.copy("Fixtures")], packageAccess: false, swiftSettings: settings),
    .executableTarget(
        name: "example-remint", dependencies: ["ExampleChat", "AdapterKit", "Remint"],
        path: "adapters/Example/Sources/example-remint", packageAccess: false, swiftSettings: settings),
    .testTarget(
        name: "ExampleChatTests", dependencies: ["ExampleChat", "AdapterKit", "AdapterTestKit"],
        path: "adapters/Example/Tests/ExampleChatTests", packageAccess: false, swiftSettings: settings),
]
/// Adapters of different kinds, for tests of what all have in common.
let someAdapters: [Target.Dependency] = ["BrazeAdapter", "DotdigitalAdapter", "BloomreachAdapter"]
/// How `make dist` links: with the toolchain's own linker, and with this in place of the static runtime's own
/// data for every language (config/icudata.py).
let distribution: [LinkerSetting] =
    Context.environment["REMINT_ICU_DATA"].map { [.unsafeFlags(["-use-ld=lld", $0])] } ?? []
/// The commit in the environment of the build, for `remint --version` and `remint_build_info`; none if it is no commit's name.
let commit: [CSetting] =
    Context.environment["REMINT_COMMIT"].flatMap { name in
        7...64 ~= name.count && name.allSatisfy(\.isHexDigit) ? [.define("REMINT_COMMIT", to: name)] : nil
    } ?? []
let adapterDependencies = vendors.map { Target.Dependency.target(name: "\($0)Adapter") }

let package = Package(
    name: "remint",
    // The iOS version is RemintClient's; the other modules run on servers.
    platforms: [.macOS(.v15), .iOS(.v16)],
    products: [
        .executable(name: "remint", targets: ["remint-program"]),
        // Measurements, which the program itself has no part of.
        .executable(name: "remint-bench", targets: ["remint-bench"]),
        // The hot path by itself, for counting its instructions.
        .executable(name: "instructions", targets: ["Instructions"]),
        // An adapter outside of this package is written with the first one, tested with the second one, and run with the third
        // one: the whole command, to which a program adds adapters of its own.
        .library(name: "AdapterKit", targets: ["AdapterKit"]),
        .library(name: "AdapterTestKit", targets: ["AdapterTestKit", "AdapterStubs"]),
        .library(name: "Remint", targets: ["Remint"]),
        // For apps on devices: Foundation alone.
        .library(name: "RemintClient", targets: ["RemintClient"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        // Header fields that Hummingbird has no name for.
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        // The parts of requests and answers, as Hummingbird's channels hand them on.
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.34.1"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(
            url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    ],
    targets: [
        .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CRdKafka", pkgConfig: "rdkafka", providers: [.apt(["librdkafka-dev"])]),

        module("RemintClient"),
        module("Formats", settings: borderSettings),
        module("JOSE", ["Formats", "COpenSSL"], settings: borderSettings),
        module("Records", ["Formats"]),
        module("Spans", ["Formats"]),
        module("AdapterKit", ["JOSE"]),
        // A vendor's REST API as a value. An adapter may contain its own; the conformance suite is not in its reach.
        module("AdapterStubs", ["AdapterKit"]),
        module("AdapterTestKit", ["AdapterKit", "AdapterStubs", "JOSE"]),
        module("StubServer", ["AdapterKit", "AdapterStubs", nio, sockets, http, tls]),
        module("Keyring", ["JOSE"], exclude: ["README.md"]),
        module("Access", ["JOSE"]),
        module("Pipeline", ["AdapterKit", "Records", "Spans", deque], exclude: ["README.md"]),
        module("Kafka", ["Records", "CRdKafka", logging], settings: borderSettings),
        module("YAMLReading", ["Formats", "Yams"]),
        module("DeclaredTesting", ["DeclaredAdapters", "YAMLReading", "AdapterKit", "AdapterTestKit"]),
        module("DeclaredAdapters", ["AdapterKit", "Formats", "YAMLReading", "Yams"]),
        module("WorkerConfiguration", ["AdapterKit", "Formats", "YAMLReading", "DeclaredAdapters", "Yams"]),
        module("Telemetry", ["Spans", "Formats", logging, tracing]),
        module(
            "Signing",
            [
                "Pipeline", "AdapterKit", "Keyring", "JOSE", "Telemetry", logging, lifecycle, nio, sockets,
            ], exclude: ["README.md"]),
        // The only module with a client for HTTP.
        module(
            "HTTPTransport", ["Formats", "JOSE", logging, nio, sockets, http, tls, httpClient]),
        module(
            "VendorLookup",
            ["HTTPTransport", "Pipeline", "AdapterKit", "JOSE", "Formats", "Telemetry", logging]),
        module("OTLP", ["HTTPTransport", "Telemetry", "Spans", "Formats", logging]),
        module(
            "BrokerTokens",
            ["HTTPTransport", "Kafka", "JOSE", "Formats", "WorkerConfiguration", "Telemetry", logging]),
        // The parts of an HTTP server that the worker's and the gateway share.
        module(
            "Serving",
            [
                "Access", "Wiring", "JOSE", "Formats", "YAMLReading", logging, hummingbird, hummingbirdCore,
                hummingbirdTLS, httpTypes, httpParts, nio, tls,
            ]),
        // From the configuration to clients and values. Signing is not among them, so that the gateway cannot reach it.
        module(
            "Wiring",
            [
                "Pipeline", "AdapterKit", "Kafka", "BrokerTokens", "HTTPTransport", "VendorLookup", "Keyring", "JOSE",
                "Formats", "WorkerConfiguration", "OTLP", "Spans", "Telemetry", logging, tls,
            ]),
        module(
            "Preflight",
            ["Wiring", "Serving", "Signing", "Keyring", "AdapterKit", "JOSE", "Formats", "WorkerConfiguration"]),
        .target(
            name: "Worker",
            dependencies: [
                "Operations", "Preflight", "Wiring", "Serving", "Pipeline", "AdapterKit", "Kafka", "BrokerTokens",
                "HTTPTransport", "Signing", "VendorLookup", "Keyring", "JOSE", "Formats", "WorkerConfiguration", "OTLP",
                "Spans",
                "Telemetry", logging, lifecycle, hummingbird, hummingbirdCore, httpTypes, nio, sockets, tls,
            ],
            // The pages of the admin server, in the program itself.
            resources: [
                .embedInCode("Resources/status.html"), .embedInCode("Resources/status.css"),
                .embedInCode("Resources/status.js"), .embedInCode("Resources/status-view.js"),
                .embedInCode("Resources/status-chart.js"), .embedInCode("Resources/status-fleet.js"),
                .embedInCode("Resources/codes.html"),
            ],
            swiftSettings: settings),
        .target(
            name: "Pickup",
            dependencies: [
                "Access", "HTTPTransport", "Wiring", "Serving", "Pipeline", "AdapterKit", "Kafka", "JOSE", "Formats",
                "WorkerConfiguration", "Telemetry", "OTLP", "Spans", logging, lifecycle, hummingbird, hummingbirdCore,
                hummingbirdTLS,
                nio, sockets, http, tls, deque, httpTypes, httpParts, httpCodec,
            ], exclude: ["README.md"],
            // In the program itself, so that an installed gateway needs no folder beside it.
            resources: [
                .embedInCode("Resources/openapi.json"), .embedInCode("Resources/remint.js"),
                .embedInCode("Resources/remint.mjs"), .embedInCode("Resources/remint.d.mts"),
            ],
            swiftSettings: settings),
        module(
            "Operations",
            ["Wiring", "Pipeline", "AdapterKit", "Kafka", "Keyring", "JOSE", "Formats", "WorkerConfiguration", logging]),
        // Tests of a configuration, through the worker's pipeline.
        module(
            "WorkerTesting",
            [
                "Preflight", "Wiring", "Pipeline", "Records", "AdapterKit", "Signing", "Keyring", "JOSE", "Formats",
                "WorkerConfiguration",
                "DeclaredAdapters", "DeclaredTesting", "YAMLReading", .product(name: "Yams", package: "Yams"),
            ]),
        // The declared vendors' files. They are data; the module finds them beside the program.
        .target(
            name: "ShippedVendors", path: "adapters/declared", exclude: ["README.md"], sources: ["Shipped.swift"],
            resources: declaredVendors.map { .copy("\($0).yaml") }, swiftSettings: settings),
        module(
            "Vendors",
            ["AdapterKit", "AdapterTestKit", "DeclaredAdapters", "DeclaredTesting", "ShippedVendors"]
                + adapterDependencies),
        // The parts of a command line that the programs share.
        module(
            "CommandKit",
            [
                "Operations", "Kafka", "WorkerConfiguration", "DeclaredAdapters", "AdapterKit", "YAMLReading",
                argumentParser,
            ]),
        module(
            "Demonstration",
            [
                "Worker", "Preflight", "Wiring", "Pickup", "Access", "HTTPTransport", "Pipeline", "AdapterKit",
                "AdapterTestKit", "Kafka",
                "Keyring", "JOSE", "WorkerConfiguration", "StubServer", "Vendors", logging,
            ]),
        // In C, because its value is a definition of the build.
        .target(name: "CBuild", cSettings: commit),
        // The command line. A program outside of this package runs it with adapters of its own.
        module(
            "Remint",
            [
                "CBuild", "Worker", "Preflight", "Wiring", "Serving", "Pickup", "Access", "Formats",
                "Signing", "Operations", "Pipeline", "AdapterKit", "Kafka", "Keyring", "JOSE",
                "WorkerConfiguration", "Telemetry", "CommandKit", "Demonstration", "Vendors", "DeclaredAdapters",
                "DeclaredTesting", "WorkerTesting", "YAMLReading", logging, lifecycle, signals, argumentParser, tracing,
            ]),
        .executableTarget(
            name: "remint-program", dependencies: ["Remint"], swiftSettings: settings, linkerSettings: distribution),

        // The measurements. They are in this package, because the modules that they measure are no products of it.
        .target(
            name: "Bench",
            dependencies: [
                "Pipeline", "AdapterKit", "AdapterTestKit", "Vendors", "JOSE", "Keyring", "BrazeAdapter",
                "OneSignalAdapter", "InfobipAdapter",
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "Instructions",
            dependencies: ["Bench", "Vendors", "AdapterKit", "DeclaredAdapters", "DeclaredTesting"],
            swiftSettings: settings),
        .executableTarget(
            name: "remint-bench",
            dependencies: [
                "Bench", "CommandKit", "Demonstration", "Serving", "Wiring", "Operations", "Pipeline", "AdapterKit",
                "Kafka", "Keyring", "JOSE", "WorkerConfiguration", "DeclaredAdapters", "DeclaredTesting", logging,
                argumentParser, nio, sockets, http,
            ],
            swiftSettings: settings),

        // What tests share that wait for a line in a log, for a turn or for a condition, and the scale of long ones.
        .target(
            name: "AsyncTestSupport", dependencies: [logging], swiftSettings: settings),
        tests("RemintClientTests", ["RemintClient", "AsyncTestSupport"]),
        tests(
            "JOSETests", ["JOSE", "Formats", "ProgramTestSupport", "AsyncTestSupport"],
            resources: [.copy("Vectors")]),
        // What the adapters' tests share.
        .target(
            name: "AdapterTestSupport",
            dependencies: ["AdapterKit", "AdapterStubs", "AdapterTestKit", "JOSE", "ProgramTestSupport"],
            swiftSettings: settings),
        // What the tests share that speak TLS.
        .target(name: "CertificateTestSupport", swiftSettings: settings),
        tests("AdapterKitTests", ["AdapterKit", "AdapterTestKit", "JOSE", "AsyncTestSupport"]),
        .testTarget(
            name: "DeclaredAdaptersTests",
            dependencies: [
                "DeclaredAdapters", "DeclaredTesting", "YAMLReading", "AdapterKit", "AdapterTestKit",
                "AdapterTestSupport", "AsyncTestSupport", "ProgramTestSupport", "BrazeAdapter", "OneSignalAdapter",
                "InfobipAdapter",
            ],
            exclude: ["Rules"], swiftSettings: settings),
        tests("StubServerTests", ["StubServer", "AdapterKit", "CertificateTestSupport", nio, sockets, tls]),
        tests("KeyringTests", ["Keyring", "JOSE", "AsyncTestSupport"]),
        tests("AccessTests", ["Access", "JOSE", "Formats", "AsyncTestSupport"]),
        tests(
            "PipelineTests",
            // Attacks go through the operators' redrives too.
            [
                "Pipeline", "AdapterKit", "JOSE", "Spans", "Operations", "Kafka", "WorkerConfiguration",
                "WorkerTestSupport", "AsyncTestSupport", "DeclaredAdapters", "DeclaredTesting",
            ] + adapterDependencies),
        tests("KafkaTests", ["Kafka", "CertificateTestSupport", "AsyncTestSupport", logging]),
        tests(
            "WorkerConfigurationTests",
            ["WorkerConfiguration", "AdapterKit", "Formats", "Vendors", "ProgramTestSupport"] + adapterDependencies,
            // Read where they are, as a file's own folder is where its paths begin.
            exclude: ["Fixtures"]),
        tests("TelemetryTests", ["Telemetry", "Spans", "Formats", logging, tracing]),
        tests(
            "OTLPTests",
            [
                "OTLP", "HTTPTransport", "Telemetry", "Spans", "AdapterKit", "Formats", "StubServer",
                "AsyncTestSupport", logging,
            ]),
        // What the tests of the worker and of the modules it is made of share.
        .target(
            name: "WorkerTestSupport",
            dependencies: [
                "WorkerConfiguration", "Pipeline", "AdapterKit", "Keyring", "JOSE", "BrazeAdapter", "DotdigitalAdapter",
                "AsyncTestSupport", logging,
            ],
            swiftSettings: settings),
        tests("RecordsTests", ["Records", "Formats"]),
        tests(
            "SigningTests",
            [
                "Signing", "Pipeline", "AdapterKit", "Keyring", "JOSE", "Telemetry", "WorkerTestSupport",
                "AsyncTestSupport", logging,
                lifecycle, nio, sockets, embedded,
            ]),
        tests(
            "VendorLookupTests",
            [
                "VendorLookup", "HTTPTransport", "Pipeline", "AdapterKit", "JOSE", "Formats", "StubServer",
                "CertificateTestSupport", "WorkerTestSupport", "AsyncTestSupport", logging, nio, sockets, http,
            ] + adapterDependencies),
        // What every user of the transport must stand.
        tests(
            "HTTPTransportTests",
            [
                "HTTPTransport", "VendorLookup", "BrokerTokens", "OTLP", "Pickup", "Access", "Kafka", "Pipeline",
                "AdapterKit", "JOSE", "Formats", "Telemetry", "Spans", "WorkerConfiguration", "StubServer",
                "CertificateTestSupport", "WorkerTestSupport", "AsyncTestSupport", "ProgramTestSupport", "BrazeAdapter",
                logging, nio, sockets, http, tls,
            ]),
        tests(
            "BrokerTokensTests",
            [
                "BrokerTokens", "Kafka", "WorkerConfiguration", "AdapterKit", "JOSE", "Formats", "StubServer",
                "CertificateTestSupport", "AsyncTestSupport", "ProgramTestSupport", logging,
            ]),
        tests(
            "PickupTests",
            [
                "Pickup", "Serving", "Access", "Formats", "AdapterKit", "Pipeline", "WorkerConfiguration", "Telemetry",
                "JOSE", "Kafka", "ProgramTestSupport", "AsyncTestSupport", "CertificateTestSupport", "Vendors",
                "Wiring",
                logging, hummingbirdCore,
                nio, http, httpTypes, httpParts, embedded,
            ],
            resources: [.copy("Pages")]),
        tests(
            "OperationsTests",
            [
                "Operations", "Pipeline", "AdapterKit", "Kafka", "Keyring", "JOSE", "WorkerConfiguration",
                "WorkerTestSupport", "AsyncTestSupport",
            ] + someAdapters),
        tests(
            "WorkerTests",
            [
                "Worker", "Operations", "Preflight", "Wiring", "Serving", "Signing", "Pipeline", "AdapterKit", "Kafka",
                "JOSE", "Keyring", "WorkerConfiguration", "StubServer", "Telemetry",
                "WorkerTestSupport", "AsyncTestSupport", "CertificateTestSupport", "ProgramTestSupport", logging,
                lifecycle, nio, sockets, http, embedded, hummingbirdCore, httpParts,
            ] + adapterDependencies),
        tests(
            "WorkerTestingTests",
            ["WorkerTesting", "WorkerConfiguration", "AdapterKit", "YAMLReading", "Vendors", "ProgramTestSupport"],
            // Read where they are, as a file's own folder is where its paths begin.
            exclude: ["Fixtures"]),
        // What the tests share that run the built program.
        .target(name: "ProgramTestSupport", dependencies: ["AsyncTestSupport"], swiftSettings: settings),
        // What the tests share that run commands in their own process.
        .target(
            name: "CommandTestSupport",
            dependencies: ["CommandKit", "Remint", "Vendors", "AdapterKit", "ProgramTestSupport"],
            swiftSettings: settings),
        tests(
            "RemintTests",
            [
                // A few lines run in a shell.
                "remint-program", "remint-bench", "CommandKit", "Kafka", "Keyring", "JOSE", "CommandTestSupport",
                "ProgramTestSupport", "AsyncTestSupport", logging,
            ]),
        tests(
            "ScenarioTests",
            [
                "remint-program", "remint-bench", "example-remint", "Operations", "WorkerConfiguration", "Kafka",
                "Keyring", "JOSE", "AdapterKit",
                "AdapterTestKit", "Vendors", "StubServer", "CommandTestSupport", "ProgramTestSupport",
                "CertificateTestSupport", "AsyncTestSupport", "RemintClient", logging,
            ] + adapterDependencies),
        tests(
            "BrokerTests",
            [
                "remint-program", "Kafka", "AdapterKit", "Pipeline", "Worker", "Preflight", "Wiring",
                "WorkerConfiguration",
                "Vendors",
                "OneSignalAdapter",
                "StubServer",
                "CommandTestSupport", "ProgramTestSupport", "AsyncTestSupport", logging, lifecycle, nio, sockets,
            ]),
    ] + adapterTargets + exampleTargets
)

/// The folder of a target that names none.
func folder(of target: Target) -> String? {
    if target.name.hasSuffix("TestSupport") { return "Tests/Support/\(target.name)" }
    guard target.type == .test else {
        return layers.first { $0.value.contains(target.name) }.map { "Sources/\($0.key)/\(target.name)" }
    }
    // The scenarios and the tests on a real broker run the programs.
    let layer = layers.first { $0.value.contains(String(target.name.dropLast("Tests".count))) }?.key ?? "Programs"
    return "Tests/\(layer)/\(target.name)"
}

for target in package.targets where target.path == nil { target.path = folder(of: target) }

/// The layers whose modules are optimized for the tests.
let optimizedLayers: Set = ["Base", "Rules", "Testing"]
for target in package.targets where target.type == .regular {
    let isOptimized = layers.contains { optimizedLayers.contains($0.key) && $0.value.contains(target.name) }
    if isOptimized { target.swiftSettings = (target.swiftSettings ?? []) + optimized }
}
