import Formats

/// The findings about a topic's replicas, whatever the operator asked for.
enum ReplicationRules {
    static let minimumInSync = "min.insync.replicas"

    static func findings(_ topic: ActualTopic) -> [TopicFinding] {
        let copies = topic.replication
        guard copies > 0 else { return [] }
        let minimum = topic.settings[minimumInSync].flatMap { Int($0) } ?? 1
        if copies < minimum {
            return [
                TopicFinding(
                    severity: .error,
                    message:
                        "\(copies.of("copy is", "copies are")) fewer than \(minimumInSync)=\(minimum): nothing can be written; add copies or lower it"
                )
            ]
        }
        if copies == 1 {
            return [
                TopicFinding(
                    severity: .warning, message: "one copy: what a broker's disk loses is lost; give it three copies")
            ]
        }
        if copies == minimum {
            return [
                TopicFinding(
                    severity: .warning,
                    message:
                        "\(copies.of("copy", "copies")) and \(minimumInSync)=\(minimum): nothing can be written while one broker is away; lower it or add a copy"
                )
            ]
        }
        return []
    }
}
