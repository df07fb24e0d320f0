package import Foundation

/// An edge of `config/edges`, in a process of its own, before a gateway and brokers.
package struct EdgeExample: Sendable {
    private static let app = "braze-ios"
    private static let secret = "0123456789abcdef0123456789abcdef"

    package let folder: URL
    private let environment: [String: String]

    /// - Parameters:
    ///   - language: the folder's name.
    ///   - gateway: the gateway's address, `host:port`.
    ///   - key: an API key of the gateway.
    ///   - topic: the input topic; nil for the usual one.
    ///   - more: further variables of the environment.
    package init(
        _ language: String, gateway: String, key: String, brokers: String, topic: String? = nil,
        more: [String: String] = [:]
    ) {
        folder = Repository.root.appending(path: "config/edges/\(language)")
        var environment = [
            "EDGE_SECRET": Self.secret, "EDGE_GATEWAY": "http://\(gateway)", "EDGE_GATEWAY_KEY": key,
            "EDGE_BROKERS": brokers, "EDGE_APPS": Self.app, "EDGE_PORT": "0",
        ]
        environment["EDGE_TOPIC"] = topic
        self.environment = environment.merging(more) { $1 }
    }

    /// Runs the commands of the example's page in its folder, on a port of their own.
    package func runPage() async throws -> Program {
        let page = try String(contentsOf: folder.appending(path: "README.md"), encoding: .utf8)
        let commands = page.split(separator: "```sh\n").dropFirst().first?.split(separator: "```").first ?? "exit 1"
        let port = try FreePort.find()
        // Job control makes the edge known as %1, as in a terminal.
        let script = "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n\(commands)"
        return try await Program.run(
            "bash", ["-m", "-e", "-o", "pipefail", "-c", script], directory: folder,
            environment: environment.merging(["EDGE_PORT": "\(port)"]) { $1 })
    }

    /// Starts the edge, runs devices against it, and returns their outcome as JSON.
    ///
    /// - Throws: `DidNotStart` with the edge's output if it listens on no port.
    package func devices(of executable: String, _ arguments: [String]) async throws -> Program {
        let edge = try Program(executable, arguments, directory: folder, environment: environment)
        defer { edge.kill() }
        guard await edge.wrote("edge: listens on "),
            let port = edge.errorText.firstMatch(of: /listens on ([0-9]+)/)?.1
        else { throw DidNotStart(output: edge.errorText) }
        let files = [
            "Tests/Services/PickupTests/Pages/edge.mjs", "Sources/Services/Pickup/Resources/remint.mjs",
        ].map { Repository.root.appending(path: $0).path }
        return try await Program.run("node", files + ["http://127.0.0.1:\(port)", Self.app, Self.secret])
    }

    package struct DidNotStart: Error {
        package let output: String
    }

    /// The outcome of devices at an edge that does its duties.
    package static let expected =
        #"{"statuses":{"none":401,"forged":401,"unsigned":401,"expired":401,"otherApp":404,"form":415,"long":413},"#
        + #""accepted":202,"location":true,"first":200,"user":"u-1","isNewer":true,"other":202,"otherToken":204,"#
        + #""answers":[true,true,true],"refusal":true}"#
}
