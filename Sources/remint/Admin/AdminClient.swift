import AdapterKit
import AsyncHTTPClient
import NIOCore
import NIOHTTP1

/// A running worker's admin server, asked from the command line.
struct AdminClient {
    /// How long an answer may take.
    private static let patience = TimeAmount.seconds(10)
    /// The longest answer, in bytes: tens of thousands of apps.
    private static let limit = 64 << 20

    /// host:port.
    let address: String
    /// What the server asks for; nil for nothing.
    var token: String?

    /// The answer to a request: its status and its JSON.
    ///
    /// - Throws: `AdminError` where there is none.
    func send(_ method: String, _ path: String) async throws -> (status: Int, body: JSONValue?) {
        var request = HTTPClientRequest(url: "http://\(address)\(path)")
        request.method = HTTPMethod(rawValue: method)
        if let token { request.headers.add(name: "authorization", value: "Bearer \(token)") }
        let status: Int
        let body: ByteBuffer
        do {
            let response = try await HTTPClient.shared.execute(request, timeout: Self.patience)
            status = Int(response.status.code)
            body = try await response.body.collect(upTo: Self.limit)
        } catch let error as HTTPClientError where [.invalidURL, .emptyHost].contains(error) {
            throw AdminError("\(address) is not an address; write host:port")
        } catch {
            throw AdminError("no worker answers at \(address): \(error)")
        }
        guard status != 401 else { throw AdminError("\(address) asks for the token of admin.token_file") }
        return (status, try? JSONDocument(parsing: Array(buffer: body)).root)
    }
}

/// Why a worker could not be asked.
struct AdminError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
