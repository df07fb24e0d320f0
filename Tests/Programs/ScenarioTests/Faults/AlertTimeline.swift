import Foundation
import ProgramTestSupport
import Testing

/// A unit test of the alerts, from the metrics that a program exposed before and during a fault.
struct AlertTimeline {
    /// Minutes before the fault.
    private static let healthy = 5
    /// Evaluations after the alert is due.
    private static let margin = 4

    static let isInstalled = ["/usr/bin", "/usr/local/bin", "/bin"].contains {
        FileManager.default.isExecutableFile(atPath: "\($0)/promtool")
    }

    let alert: FaultAlert
    let job: String
    /// The metrics before the fault; nil for a fault that is there at the start.
    let before: Exposition?
    /// The metrics during the fault; nil for a process that has exited.
    let during: Exposition?
    /// The moment of the metrics, in seconds since 1970: the unit test starts at 0.
    let now: Double

    /// Returns the reason why the alert does not fire during the fault, or fires before; nil where it is right.
    func complaint() async throws -> String? {
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "test.yaml")
        let rules = Repository.root.appending(path: "config/prometheus/remint.rules.yaml")
        let alerts = try String(contentsOf: rules, encoding: .utf8)
        let rule = try rule(in: alerts)
        let needed = Set((rule + recorded(in: alerts)).matches(of: /remint_[a-z_]+/).map { String($0.0) })
        try Data(text(rules.path, delay(of: rule), needed).utf8).write(to: file)
        let test = try await Program.run("promtool", ["test", "rules", file.path])
        return test.status == 0 ? nil : "\(test.outputText)\(test.errorText)"
    }

    private func rule(in rules: String) throws -> String {
        try #require(rules.components(separatedBy: "- alert: ").first { $0.hasPrefix("\(alert.name)\n") })
    }

    /// Returns the rules whose results alerts read.
    private func recorded(in rules: String) -> String {
        rules.components(separatedBy: "- name: ").dropFirst().first ?? ""
    }

    /// Returns the minutes for which the alert's condition must last.
    private func delay(of rule: String) -> Int {
        guard let match = rule.firstMatch(of: /\n +for: (\d+)([mh])/), let count = Int(match.1) else { return 1 }
        return match.2 == "h" ? count * 60 : count
    }

    /// - Parameter needed: the metrics that the alert reads.
    private func text(_ rules: String, _ delay: Int, _ needed: Set<String>) -> String {
        // The rules are evaluated some dozen times, also for an alert that waits for hours.
        let step = delay > 60 ? 10 : 1
        let due = Self.healthy + delay + Self.margin * step
        // The end is a moment of an evaluation.
        let length = (due + step - 1) / step * step - Self.healthy
        let labels = alert.labels.isEmpty ? "" : ", \(alert.labels)"
        let firing = #"ALERTS{alertname="\#(alert.name)", alertstate="firing"\#(labels)}"#
        let blocks = [
            block(
                series(length).filter { needed.contains(Self.metric($0.name)) }, at: Self.healthy + length,
                "count(\(firing)) > bool 0"),
            before.map { _ in
                block(
                    calm(length).filter { needed.contains(Self.metric($0.name)) }, at: Self.healthy + length,
                    "count(\(firing) or vector(0)) == bool 1")
            },
        ]
        return "rule_files: ['\(rules)']\nevaluation_interval: \(step)m\ntests:\n" + blocks.compactMap(\.self).joined()
    }

    private func block(_ series: [(name: String, values: String)], at minute: Int, _ expression: String) -> String {
        let lines = series.map { "      - { series: '\($0.name)', values: '\($0.values)' }\n" }
        return """
              - interval: 1m
                input_series:
            \(lines.isEmpty ? "      []\n" : lines.joined())
                promql_expr_test:
                  - expr: '\(expression)'
                    eval_time: \(minute)m
                    exp_samples: [{ labels: '{}', value: 1 }]

            """
    }

    private func name(_ sample: Exposition.Sample) -> String {
        let more = sample.labels.isEmpty ? "" : ", \(sample.labels)"
        return #"\#(sample.name){job="\#(job)", instance="a"\#(more)}"#
    }

    /// Returns the value for a test whose time starts at 0.
    private func value(_ sample: Exposition.Sample) -> Double {
        sample.name.hasSuffix("_timestamp_seconds") ? sample.value - now : sample.value
    }

    private static func metric(_ series: String) -> String { String(series.prefix { $0 != "{" }) }

    private static func number(_ value: Double) -> String { String(format: "%.4f", value) }

    private func calm(_ length: Int) -> [(name: String, values: String)] {
        (before?.samples ?? []).filter { $0.value.isFinite }.map { sample in
            (name(sample), "\(Self.number(value(sample)))x\(Self.healthy + length)")
        }
    }

    /// The series before and during the fault.
    private func series(_ length: Int) -> [(name: String, values: String)] {
        let old = Dictionary((before?.samples ?? []).map { (name($0), $0) }) { first, _ in first }
        let new = Dictionary((during?.samples ?? []).map { (name($0), $0) }) { first, _ in first }
        return Set(old.keys).union(new.keys).sorted().compactMap { series in
            let samples = (old[series], new[series])
            guard [samples.0, samples.1].allSatisfy({ $0?.value.isFinite ?? true }) else { return nil }
            let first = samples.0.map { "\(Self.number(value($0)))x\(Self.healthy - 1)" } ?? "_x\(Self.healthy)"
            return (series, "\(first) \(rest(samples.0, samples.1, length))")
        }
    }

    private func rest(_ old: Exposition.Sample?, _ new: Exposition.Sample?, _ length: Int) -> String {
        guard let new else { return "stale" }
        let growth = value(new) - (old.map(value) ?? 0)
        let step = alert.isRepeated && during?.isCounter(new) == true && growth > 0 ? "+\(Self.number(growth))" : ""
        return "\(Self.number(value(new)))\(step)x\(length)"
    }
}
