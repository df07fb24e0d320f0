public import AdapterKit

extension StubRequest {
    /// `request` as it reaches the vendor, with `authorization` as its header of that name.
    public init(_ request: LookupRequest, authorization: String?) {
        var headers = [(name: "accept", value: "application/json")]
        if let authorization { headers.append((name: "authorization", value: authorization)) }
        if request.body != nil { headers.append((name: "content-type", value: "application/json")) }
        self.init(
            method: request.method.rawValue, target: request.path, headers: headers, body: request.body ?? [])
    }
}

extension LookupResponse {
    /// The part of a stub's answer that an adapter reads.
    public init(_ response: StubResponse) { self.init(status: response.status, body: response.body) }
}
