/// The request that a proof is for.
public struct ProvenRequest: Sendable, Hashable {
    /// The method, as it came.
    public let method: String
    /// The URL of the request as the caller sees it: behind a proxy, with the public scheme and host.
    public let url: ComparableURL

    /// A request of `method` to `url`.
    public init(method: String, url: ComparableURL) {
        self.method = method
        self.url = url
    }
}
