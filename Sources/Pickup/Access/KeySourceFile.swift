import Access
import AsyncHTTPClient
import Foundation
import JOSE
import NIOCore
import NIOHTTP1
import WorkerConfiguration

/// The session issuer's keys, from its URL or from a file.
struct KeySourceFile: Sendable {
    let keys: FetchedKeys

    /// The longest set, in bytes.
    private static let limit = 256 << 10

    /// Nil where only backends ask.
    init?(_ session: Configuration.Pickup.Session?) {
        guard let session else { return nil }
        let place = session.keySet
        keys = FetchedKeys(
            algorithms: session.algorithms, times: KeySetTimes(coolDown: session.coolDown), now: { .now },
            pause: { try await Task.sleep(for: $0) },
            fetch: { try await Self.fetch(place) })
    }

    /// Fetches what is asked for, until the task is cancelled.
    func run() async { await keys.run() }

    private static func fetch(_ place: String) async throws -> KeySetDocument {
        guard place.contains("://") else {
            return KeySetDocument(bytes: Array(try Data(contentsOf: URL(filePath: place))), maxAge: nil)
        }
        var request = HTTPClientRequest(url: place)
        request.headers.add(name: "accept", value: "application/jwk-set+json, application/json")
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(5))
        guard response.status == .ok else { throw PickupError("the issuer's keys answered \(response.status.code)") }
        let body = try await response.body.collect(upTo: limit)
        return KeySetDocument(bytes: Array(buffer: body), cacheControl: response.headers.first(name: "cache-control"))
    }
}
