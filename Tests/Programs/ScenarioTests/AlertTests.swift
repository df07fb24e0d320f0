import Foundation
import JOSE
import ProgramTestSupport
import Testing

extension Scenarios {
    /// Tests of the alerts and the dashboard against their runbooks, their own tests and their units.
    @Suite(.timeLimit(.minutes(5))) struct AlertTests {
        private struct Alert {
            let name: String
            let text: Substring

            /// Returns the rest of the line of the member `name`.
            func member(_ name: String) -> Substring? {
                text.split(separator: "\n").map { $0.drop(while: { $0 == " " }) }.first { $0.hasPrefix("\(name): ") }
                    .map { $0.dropFirst(name.count + 2) }
            }
        }

        private func text(_ path: String) throws -> String {
            try String(contentsOf: Repository.root.appending(path: "config/\(path)"), encoding: .utf8)
        }

        private func alerts() throws -> [Alert] {
            let rules = try text("prometheus/remint.rules.yaml")
            let parts = rules.split(separator: "- alert: ", omittingEmptySubsequences: false).dropFirst()
            let alerts = parts.map { Alert(name: String($0.prefix { $0 != "\n" }), text: $0) }
            try #require(alerts.count > 40)
            return alerts
        }

        /// The sections of a page's third level, by the anchors that renderers of Markdown give them.
        private func sections(of page: String) -> [String: Substring] {
            let parts = page.split(separator: "\n### ", omittingEmptySubsequences: false).dropFirst()
            let named = parts.map { part in
                let title = part.prefix { $0 != "\n" }.lowercased()
                let anchor = title.filter { $0.isLetter || $0.isNumber || $0 == " " || $0 == "-" }
                // A section ends at the next heading of a higher level.
                return (
                    anchor.replacing(" ", with: "-"),
                    part.prefix(upTo: part.firstRange(of: "\n## ")?.lowerBound ?? part.endIndex)
                )
            }
            return Dictionary(named) { first, _ in first }
        }

        @Test func `every alert has a runbook, which names the alert, a first command and remedies`() throws {
            let page = try text("OPERATION.md")
            let sections = sections(of: page)
            var bases: Set<Substring> = []
            for alert in try alerts() {
                let parts = try #require(alert.member("runbook_url"), "\(alert.name)").split(separator: "#")
                try #require(parts.count == 2, "\(alert.name)")
                bases.insert(parts[0])
                let section = try #require(sections[String(parts[1])], "\(alert.name): \(parts[1])")
                #expect(section.hasPrefix("\(alert.name)\n") || section.contains("`\(alert.name)`"), "\(alert.name)")
                #expect(section.contains("\nFirst: `"), "\(alert.name)")
                #expect(section.contains("\n- "), "\(alert.name)")
            }
            // One address to replace, as the page describes.
            let base = try #require(bases.first)
            #expect(bases.count == 1)
            let written = page.split(separator: "sed -i 's#").dropFirst().first?.prefix { $0 != "#" }
            #expect(written.map { $0 + "OPERATION.md" } == base)
        }

        @Test func `every link of the page to one of its sections leads there`() throws {
            let page = try text("OPERATION.md")
            let titles = page.matches(of: /(?m)^#+ (.+)$/).map { match in
                match.1.lowercased().filter { $0.isLetter || $0.isNumber || $0 == " " || $0 == "-" }
                    .replacing(" ", with: "-")
            }
            let links = page.matches(of: /\]\(#([^)]+)\)/)
            #expect(links.count > 20)
            for link in links { #expect(titles.contains(String(link.1)), "\(link.1)") }
        }

        @Test func `every alert has a case that sees it fire and one that sees it stay silent`() throws {
            let tests = try text("prometheus/remint.test.yaml")
            for alert in try alerts() {
                // A case without a time of its own is the one above once more: promtool refuses the whole file.
                let fires = "- eval_time: \\w+\\s+alertname: \(alert.name)\\s+exp_alerts:"
                #expect(tests.firstMatch(of: try Regex(fires)) != nil, "\(alert.name) is never seen to fire")
                let silent = "- \\{ eval_time: \\w+, alertname: \(alert.name) \\}"
                #expect(tests.firstMatch(of: try Regex(silent)) != nil, "\(alert.name) is never seen to stay silent")
            }
        }

        @Test func `the commands of the runbooks exist, with their options`() async throws {
            let page = try text("OPERATION.md")
            let start = try #require(page.firstRange(of: "\n## Alerts\n")).upperBound
            let end = try #require(page.firstRange(of: "\n## Traces\n")).lowerBound
            let commands = page[start..<end].matches(of: /`remint ([^`]+)`/).map { $0.1.split(separator: " ") }
            #expect(commands.count > 40)
            let dump = try await Command.remint(["--experimental-dump-help"])
            let root = try JSONDocument(parsing: Array(dump.standardOutput)).root
            for words in commands where words.first.map({ $0 != "signer" }) ?? false {
                var command = try #require(root["command"])
                for word in words {
                    guard
                        let next = command["subcommands"]?.elements.first(where: {
                            $0["commandName"]?.string == String(word)
                        })
                    else { break }
                    command = next
                }
                let path = words.prefix { !$0.hasPrefix("-") && $0.allSatisfy { $0.isLowercase || $0 == "-" } }
                #expect(
                    command["commandName"]?.string == path.last.map(String.init),
                    "remint \(words.joined(separator: " "))")
                let options = (command["arguments"]?.elements ?? []).flatMap { $0["names"]?.elements ?? [] }
                    .compactMap { $0["name"]?.string }
                for option in words where option.hasPrefix("--") {
                    #expect(options.contains(String(option.dropFirst(2))), "remint \(words.joined(separator: " "))")
                }
            }
        }

        // MARK: The dashboard

        private enum Unit: String { case seconds = "s", rate = "ops", count = "short", bytes, share = "percentunit" }

        private func unit(of query: String) -> Unit {
            if query.contains("histogram_quantile") { return .seconds }
            // Two counts in a ratio: the events of a batch are counted, all else is a share.
            if query.contains(") / sum") { return query.contains("_batch_events_") ? .count : .share }
            if query.contains("process_cpu_seconds_total") { return .count }
            if query.contains("increase(") { return .count }
            if query.contains("rate(") { return .rate }
            let metric = query.firstMatch(of: /(?:remint|process)_[a-z_]+/).map { String($0.0) } ?? ""
            if metric.hasSuffix("_bytes") { return .bytes }
            return metric.hasSuffix("_seconds") ? .seconds : .count
        }

        @Test func `a panel of the dashboard has one unit`() throws {
            let board = try JSONDocument(parsing: Array(text("grafana/remint.json").utf8)).root
            for panel in board["panels"]?.elements ?? [] where panel["type"]?.string != "row" {
                let title = panel["title"]?.string ?? ""
                let queries = (panel["targets"]?.elements ?? []).compactMap { $0["expr"]?.string }
                let units = Set(queries.map { unit(of: $0).rawValue })
                #expect(units.count == 1, "\(title): \(units)")
                #expect(units.first == panel["fieldConfig"]?["defaults"]?["unit"]?.string, "\(title): \(units)")
            }
        }

        @Test func `each panel of the dashboard has a number, a query and a place of its own`() throws {
            let board = try JSONDocument(parsing: Array(text("grafana/remint.json").utf8)).root
            var cells: Set<[Int64]> = []
            var numbers: Set<Int64> = []
            for panel in board["panels"]?.elements ?? [] {
                #expect(numbers.insert(try #require(panel["id"]?.integer)).inserted, "\(panel["title"]?.string ?? "")")
                if panel["type"]?.string != "row" { #expect(panel["targets"]?.elements.isEmpty == false) }
                let place = try #require(panel["gridPos"])
                let sides = try ["x", "y", "w", "h"].map { try #require(place[$0]?.integer) }
                #expect(sides[0] + sides[2] <= 24)
                for x in sides[0]..<(sides[0] + sides[2]) {
                    for y in sides[1]..<(sides[1] + sides[3]) {
                        #expect(cells.insert([x, y]).inserted, "\(panel["title"]?.string ?? "") at \(x), \(y)")
                    }
                }
            }
            #expect(numbers.count > 40)
        }
    }
}
