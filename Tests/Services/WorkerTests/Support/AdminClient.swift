import Foundation
import FoundationNetworking
import Testing

/// A monitor's view of a worker's admin server.
struct AdminClient {
    struct Answer {
        let status: Int
        let type: String
        let body: String

        var json: [String: Any] {
            (try? JSONSerialization.jsonObject(with: Data(body.utf8))) as? [String: Any] ?? [:]
        }
    }

    /// The address at which the server listens.
    let address: String
    private let session = URLSession(configuration: .ephemeral)

    init(address: String) { self.address = address }

    func ask(_ path: String, method: String = "GET", headers: [String: String] = [:]) async throws -> Answer {
        var request = URLRequest(url: try #require(URL(string: "http://\(address)\(path)")))
        request.httpMethod = method
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        request.timeoutInterval = 20
        let (data, response) = try await session.data(for: request)
        let http = try #require(response as? HTTPURLResponse)
        return Answer(
            status: http.statusCode, type: http.value(forHTTPHeaderField: "content-type") ?? "",
            body: String(decoding: data, as: UTF8.self))
    }

    /// The value of one sample, such as `remint_sessions_total` or `remint_events_total{lane="live"}`; 0 where it is
    /// not there.
    func metric(_ sample: String) async throws -> Double {
        let lines = try await ask("/metrics").body.split(separator: "\n")
        return lines.first { $0.hasPrefix("\(sample) ") }.flatMap { Double($0.dropFirst(sample.count + 1)) } ?? 0
    }
}
