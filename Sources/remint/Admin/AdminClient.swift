import AdapterKit
import Foundation
import FoundationNetworking

/// A running worker's admin server, asked from the command line.
struct AdminClient {
    /// host:port.
    let address: String
    /// What the server asks for; nil for nothing.
    var token: String?

    /// The answer to a request: its status and its JSON.
    func send(_ method: String, _ path: String) async throws -> (status: Int, body: JSONValue?) {
        guard let url = URL(string: "http://\(address)\(path)") else {
            throw AdminError("\(address) is not an address; write host:port")
        }
        var request = URLRequest(url: url, timeoutInterval: 10)
        request.httpMethod = method
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "authorization") }
        let data: Data
        let response: URLResponse
        do { (data, response) = try await URLSession.shared.data(for: request) } catch {
            throw AdminError("no worker answers at \(address): \(error.localizedDescription)")
        }
        guard (response as? HTTPURLResponse)?.statusCode != 401 else {
            throw AdminError("\(address) asks for the token of admin.token_file")
        }
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        return (status, try? JSONDocument(parsing: Array(data)).root)
    }
}

/// Why a worker could not be asked.
struct AdminError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
