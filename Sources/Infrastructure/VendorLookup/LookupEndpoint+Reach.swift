import AdapterKit
import Formats
public import HTTPTransport

extension LookupEndpoint {
    /// Requests the endpoint's root, with a connection like any look-up's and without credentials.
    ///
    /// - Parameter limit: the longest time of the answer.
    /// - Returns: the status of the answer; any status shows that the endpoint was reached.
    /// - Throws: `EndpointError` where there is no answer, or where the endpoint cannot be used.
    public func reach(within limit: Duration) async throws(EndpointError) -> Int {
        let destination = try LookupDestination(self)
        let transport = destination.makeTransport()
        let request = TransportRequest(
            url: destination.url.appending("/") ?? destination.url.text, host: destination.url.authority,
            reading: .head)
        let result: Result<Int, EndpointError>
        do throws(TransportError) {
            result = .success(try await transport.send(request, within: limit).status)
        } catch { result = .failure(EndpointError(error.description)) }
        await transport.close()
        return try result.get()
    }
}
