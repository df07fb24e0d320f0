import AdapterKit
import ArgumentParser
import Foundation
import Worker
import WorkerConfiguration

/// `remint apps`: what the running workers say of their apps, and the end of a suspension.
struct AppsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apps", abstract: "Shows the apps of running workers and ends suspensions.",
        discussion: """
            Asks each worker's admin server. A suspended app's events wait in the retry tiers; they are answered when another
            key is active or after `remint apps resume APP`.
            """, subcommands: [AppsList.self, AppsResume.self], defaultSubcommand: AppsList.self)
}

/// Which workers are asked.
struct WorkerOptions: ParsableArguments {
    @OptionGroup var options: ConfigurationOptions
    @Option(
        name: .customLong("worker"),
        help: ArgumentHelp(
            "A worker's admin server, repeated for several. Default: admin.listen.", valueName: "host:port"))
    var workers: [String] = []

    func clients() throws -> [AdminClient] {
        if !workers.isEmpty { return workers.map { AdminClient(address: $0) } }
        guard let admin = try options.load().configuration?.admin, admin.port != 0 else {
            throw ValidationError("the configuration names no admin.listen with a port; name the workers with --worker")
        }
        let host = admin.host.contains(":") ? "[\(admin.host)]" : admin.host
        return [AdminClient(address: "\(host):\(admin.port)")]
    }
}

/// `remint apps list`.
struct AppsList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "Shows the apps; the default.")

    @OptionGroup var workers: WorkerOptions
    @Flag(help: "Print the apps as JSON.") var json = false

    func run() async throws {
        var table = TextTable("WORKER", "APP", "ADAPTER", "KEY RING", "KEY VERSION", "STATE", "SINCE", "USERS")
        var writer = JSONWriter()
        writer.beginArray()
        for client in try workers.clients() {
            for app in try await apps(of: client) {
                func text(_ name: String) -> String { app[name]?.string ?? "-" }
                table.add(
                    client.address, text("app"), text("adapter"), text("key_ring"), text("key_version"), text("state"),
                    text("suspended_since"), app["refusing_users"]?.integer.map(String.init) ?? "-")
                writer.beginObject()
                writer.member("worker", client.address)
                for member in app.members {
                    writer.name(member.name)
                    writer.raw(member.value.json)
                }
                writer.endObject()
            }
        }
        writer.endArray()
        if json {
            Terminal.print(String(decoding: writer.bytes, as: UTF8.self))
        } else {
            for line in table.lines { Terminal.print(line) }
        }
    }

    private func apps(of client: AdminClient) async throws -> [JSONValue] {
        do {
            return try await client.send("GET", "/apps").body?["apps"]?.elements ?? []
        } catch let error as AdminError {
            Terminal.error("remint: \(error)")
            throw ExitCode(75)
        }
    }
}

/// `remint apps resume APP`.
struct AppsResume: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Ends the suspension of an app on every worker asked.",
        discussion: "Exit code 1 where the app is suspended on none of them.")

    @OptionGroup var workers: WorkerOptions
    @Argument(help: "The app.") var app: String

    func run() async throws {
        var resumed = 0
        for client in try workers.clients() {
            do {
                let name = app.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? app
                let (status, body) = try await client.send("POST", "/apps/resume?app=\(name)")
                if status == 202 { resumed += 1 }
                Terminal.print(
                    "\(client.address): \(body?["state"]?.string ?? body?["error"]?.string ?? "HTTP \(status)")")
            } catch let error as AdminError {
                Terminal.error("remint: \(error)")
                throw ExitCode(75)
            }
        }
        if resumed == 0 { throw ExitCode.failure }
    }
}
