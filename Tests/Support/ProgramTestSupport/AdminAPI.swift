import AsyncTestSupport
import Foundation
import FoundationNetworking
import Testing

/// A worker's admin server, found in what the worker logs.
package struct AdminAPI {
    package let address: String

    package init(of worker: Program) async throws {
        try #require(await worker.logged("admin.listening"), "\(worker.errorText)")
        let match = try #require(worker.errorText.firstMatch(of: /remint\.admin\.address=([0-9.:]+)/))
        address = String(match.1)
    }

    /// The answer to GET `path`.
    package func get(_ path: String) async throws -> (status: Int, text: String) {
        let url = try #require(URL(string: "http://\(address)\(path)"))
        let (data, response) = try await URLSession.shared.data(from: url)
        return ((response as? HTTPURLResponse)?.statusCode ?? 0, String(decoding: data, as: UTF8.self))
    }

    /// The sum of the values of `metric` whose labels hold all of `labels`.
    package func total(_ metric: String, _ labels: [String] = []) async throws -> Double {
        let samples = try await get("/metrics").text.split(separator: "\n").filter { line in
            line.prefix { $0 != "{" && $0 != " " } == metric && labels.allSatisfy { line.contains($0) }
        }
        return samples.compactMap { $0.split(separator: " ").last.flatMap { Double($0) } }.reduce(0, +)
    }

    /// Waits until `total` is at least `count`.
    package func wait(_ metric: String, _ labels: [String] = [], atLeast count: Double) async throws {
        let what = ([metric] + labels).joined(separator: " ")
        try await eventually("\(what) of at least \(count)", within: .seconds(240)) {
            try await total(metric, labels) >= count
        }
    }
}
