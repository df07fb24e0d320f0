import Foundation
import FoundationNetworking
import ProgramTestSupport
import Testing

/// A worker's admin server, asked by whoever monitors it.
struct Scrape {
    private let address: String

    /// The server of `program`, once it listens.
    init(_ program: Program) async throws {
        try #require(await program.wrote("remint.admin.address="), "\(program.lastLines)")
        let text = program.errorText
        let start = try #require(text.range(of: "remint.admin.address=")).upperBound
        address = String(text[start...].prefix { !$0.isWhitespace })
    }

    /// The sum of a counter over the labels of all its series that have these.
    func counter(_ name: String, _ labels: String = "") async throws -> Double {
        let lines = try await get("/metrics").body.split(separator: "\n")
        return lines.filter {
            ($0.hasPrefix("\(name){") || $0.hasPrefix("\(name) ")) && (labels.isEmpty || $0.contains(labels))
        }
        .compactMap { $0.split(separator: " ").last.flatMap { Double($0) } }.reduce(0, +)
    }

    /// The mean of what a histogram counted since `before`, with the state to go on from.
    func mean(of histogram: String, since before: Histogram = Histogram()) async throws -> (Double, Histogram) {
        let now = Histogram(
            sum: try await counter("\(histogram)_sum"), count: try await counter("\(histogram)_count"))
        return ((now.sum - before.sum) / max(1, now.count - before.count), now)
    }

    struct Histogram {
        var sum = 0.0
        var count = 0.0
    }

    /// The answer to `path`.
    func get(_ path: String) async throws -> (status: Int, body: String) {
        let url = try #require(URL(string: "http://\(address)\(path)"))
        let (data, response) = try await URLSession.shared.data(for: URLRequest(url: url, timeoutInterval: 10))
        return ((response as? HTTPURLResponse)?.statusCode ?? 0, String(decoding: data, as: UTF8.self))
    }
}
