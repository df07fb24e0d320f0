// swift-tools-version: 6.2
import PackageDescription

// An adapter's package as anybody may have it. Outside of this repository, the dependency is
// .package(url: "https://REPOSITORY", from: "VERSION").
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "example-chat",
    platforms: [.macOS(.v15)],
    products: [.executable(name: "example-remint", targets: ["example-remint"])],
    dependencies: [.package(name: "remint", path: "../..")],
    targets: [
        .target(
            name: "ExampleChat", dependencies: [.product(name: "AdapterKit", package: "remint")],
            resources: [.copy("Fixtures")], swiftSettings: settings),
        .executableTarget(
            name: "example-remint",
            dependencies: [
                "ExampleChat", .product(name: "AdapterKit", package: "remint"),
                .product(name: "Remint", package: "remint"),
            ], swiftSettings: settings),
        .testTarget(
            name: "ExampleChatTests",
            dependencies: [
                "ExampleChat", .product(name: "AdapterKit", package: "remint"),
                .product(name: "AdapterTestKit", package: "remint"),
            ], swiftSettings: settings),
    ]
)
