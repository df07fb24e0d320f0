import AdapterKit
import ArgumentParser
import Operations

/// `remint topics create`.
struct TopicsCreate: AsyncParsableCommand, ConfigurationCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Creates the missing topics. Changes no existing topic.",
        discussion: .help(
            "The exit code is 1 if a topic could not be created. The command still creates the other topics.",
            examples: """
                remint topics create --config remint.yaml
                remint topics create --config remint.yaml --partitions 6 --replication 3
                """))

    @OptionGroup var topics: TopicOptions
    var options: ConfigurationOptions { topics.options }
    var brokers: String? { topics.brokers }
    @Flag(help: "Print the result as JSON.") var json = false

    func run() async throws {
        let (plan, cluster) = try await topics.plan()
        var created: [String] = []
        var failed: [String] = []
        try await cluster.create(plan.missing) { topic, error in
            if let error {
                failed.append(topic.name)
                Terminal.error("remint: \(error)")
            } else {
                created.append(topic.name)
                if !json { Terminal.print("created \(topic.name): \(topic.summary)") }
            }
        }
        let differing = plan.unsettled - plan.missing.count
        if json {
            Terminal.print(report(created, failed, differing))
        } else {
            if plan.missing.isEmpty { Terminal.print("all \(plan.entries.count.of("topic")) exist") }
            if differing > 0 {
                Terminal.error("remint: topics that exist and differ: \(differing); see: remint topics plan")
            }
        }
        if !failed.isEmpty { throw ExitCode.failure }
    }

    private func report(_ created: [String], _ failed: [String], _ differing: Int) -> String {
        var writer = JSONWriter()
        writer.beginObject()
        for (name, topics) in [("created", created), ("failed", failed)] {
            writer.name(name)
            writer.beginArray()
            for topic in topics { writer.string(topic) }
            writer.endArray()
        }
        writer.member("differing", Int64(differing))
        writer.endObject()
        return writer.printable
    }
}
