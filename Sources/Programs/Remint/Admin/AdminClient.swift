import AdapterKit
import Formats
import HTTPTransport

/// A running worker's admin server, asked from the command line.
struct AdminClient {
    /// The longest time for an answer.
    private static let timeout = Duration.seconds(10)
    /// The longest answer, in bytes: tens of thousands of apps.
    private static let limit = 64 << 20

    /// host:port.
    let address: String
    /// The token that the server asks for; nil for none.
    var token: String?

    /// Sends a request, and returns the answer's status and JSON.
    ///
    /// - Throws: `AdminError` where there is none.
    func send(_ method: String, _ path: String) async throws -> (status: Int, body: JSONValue?) {
        guard let endpoint = try? EndpointURL(parsing: "http://\(address)") else {
            // The text itself may hold a password.
            throw AdminError("a --worker is no address of an admin server; write host:port, without credentials")
        }
        let request = TransportRequest(
            method, url: "\(endpoint.text)\(path)", host: endpoint.authority,
            headers: token.map { [(name: "authorization", value: "Bearer \($0)")] } ?? [],
            reading: .body(upTo: Self.limit))
        let response: TransportResponse
        do throws(TransportError) {
            response = try await HTTPTransport.send(request, within: Self.timeout)
        } catch { throw AdminError("no worker answers at \(error)") }
        guard response.status != 401 else { throw AdminError("\(address) asks for the token of admin.token_file") }
        return (response.status, try? JSONDocument(parsing: response.body).root)
    }
}

/// The reason that a worker could not be asked.
struct AdminError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
