import AdapterKit
import AsyncHTTPClient
import Formats
import NIOCore
import NIOHTTP1

extension LookupEndpoint {
    /// Asks for the endpoint's root, with a connection like any look-up's and without credentials.
    ///
    /// - Parameter limit: how long the answer may take.
    /// - Returns: the status of the answer, whatever it is: the endpoint was reached.
    /// - Throws: `EndpointError` where there is no answer, or where the endpoint cannot be used.
    public func reach(within limit: Duration) async throws(EndpointError) -> Int {
        let destination = try LookupDestination(self)
        let client = destination.makeClient()
        let result: Result<Int, EndpointError>
        do {
            var request = HTTPClientRequest(url: destination.url.appending("/") ?? destination.url.text)
            request.headers = ["User-Agent": "remint"]
            // Of the answer no more is read than its head.
            let response = try await client.execute(
                request, deadline: .now() + TimeAmount(limit), logger: HTTPClient.silence)
            result = .success(Int(response.status.code))
        } catch {
            let failure = LookupErrorText(host: destination.url.authority, timeout: limit).failure(error)
            result = .failure(EndpointError(failure.detail))
        }
        try? await client.shutdown()
        return try result.get()
    }
}
