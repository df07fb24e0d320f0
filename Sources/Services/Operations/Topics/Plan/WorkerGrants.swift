package import WorkerConfiguration

/// The permissions that a worker's principal needs, as commands for the cluster's own tool.
package struct WorkerGrants: Sendable, Equatable {
    /// Some resources of one kind, and the operations allowed on them.
    struct Grant: Sendable, Equatable {
        let operations: [String]
        /// The options that name the resources.
        let resources: [String]
    }

    let grants: [Grant]

    /// The permissions that a worker with `configuration` needs.
    package init(_ configuration: Configuration) {
        let topics = configuration.topics
        let inputs = [topics.invalidations, topics.invalidationsBulk] + configuration.appTopics
        let group = configuration.kafka.group
        let both = configuration.retryTopics + [topics.tokens, topics.control]
        var grants = [
            Grant(operations: ["Read", "Describe"], resources: Self.named("--topic", inputs)),
            Grant(operations: ["Read", "Write", "Describe"], resources: Self.named("--topic", both)),
            Grant(operations: ["Write", "Describe"], resources: Self.named("--topic", [topics.deadLetters])),
            Grant(
                operations: ["DescribeConfigs"],
                resources: Self.named("--topic", inputs + both + [topics.deadLetters])),
            Grant(
                operations: ["Read"], resources: Self.named("--group", [group, "\(group)-retries", "\(group)-bulk"])),
        ]
        if configuration.delivery == .exactlyOnce {
            grants.append(
                Grant(
                    operations: ["Write", "Describe"],
                    resources: Self.named("--transactional-id", ["\(group)-"])
                        + ["--resource-pattern-type prefixed"]))
        }
        self.grants = grants
    }

    /// Returns the commands that grant the permissions to `principal`, such as `User:remint`, through `brokers`: a line
    /// each, for a shell.
    package func commands(for principal: String, brokers: String) -> [String] {
        grants.map { grant in
            let start = [
                "kafka-acls.sh --bootstrap-server \(Self.quoted(brokers)) --add --allow-principal \(Self.quoted(principal))"
            ]
            return (start + grant.operations.map { "--operation \($0)" } + grant.resources).joined(separator: " ")
        }
    }

    private static func named(_ option: String, _ names: [String]) -> [String] {
        names.map { "\(option) \(quoted($0))" }
    }

    /// Returns `text` as one word of a shell.
    private static func quoted(_ text: String) -> String { "'\(text.replacing("'", with: "'\\''"))'" }
}
