package import Formats
@_spi(Signing) package import JOSE

/// AWS's Signature Version 4 in a URL's query
/// (https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html), for a GET of `/` without a body.
package struct SignatureV4: Sendable {
    let credentials: AWSCredentials
    let region: String
    let service: String

    package init(credentials: AWSCredentials, region: String, service: String) {
        self.credentials = credentials
        self.region = region
        self.service = service
    }

    /// Returns the URL of `parameters` at `host`, which is valid from `time` on for the given seconds.
    ///
    /// - Throws: `JOSEError` where libcrypto cannot, or the secret is empty.
    package func presignedURL(
        host: String, parameters: [(name: String, value: String)], at time: UnixTime, validFor seconds: Int
    ) throws(JOSEError) -> String {
        let stamp = time.description.filter { $0 != "-" && $0 != ":" }
        // To the second, whatever the clock's resolution.
        let moment = stamp.prefix { $0 != "." && $0 != "Z" } + "Z"
        let day = String(moment.prefix(8))
        let scope = "\(day)/\(region)/\(service)/aws4_request"
        var query =
            parameters + [
                ("X-Amz-Algorithm", "AWS4-HMAC-SHA256"), ("X-Amz-Credential", "\(credentials.accessKeyID)/\(scope)"),
                ("X-Amz-Date", String(moment)), ("X-Amz-Expires", "\(seconds)"), ("X-Amz-SignedHeaders", "host"),
            ]
        if let token = credentials.sessionToken { query.append(("X-Amz-Security-Token", token)) }
        let encoded = query.map { (PercentEncoding.encoded($0.name), PercentEncoding.encoded($0.value)) }
        // By code unit, of the encoded name first.
        let sorted = encoded.sorted { $0.0 == $1.0 ? Self.precedes($0.1, $1.1) : Self.precedes($0.0, $1.0) }
        let canonical = """
            GET
            /
            \(Self.joined(sorted))
            host:\(host)

            host
            \(Self.hex(SHA256.hash([])))
            """
        let toSign = """
            AWS4-HMAC-SHA256
            \(moment)
            \(scope)
            \(Self.hex(SHA256.hash(Array(canonical.utf8))))
            """
        let signature = try signer(day: day).sign(Array(toSign.utf8))
        return "https://\(host)/?\(Self.joined(encoded))&X-Amz-Signature=\(Self.hex(signature))"
    }

    /// Returns the key of a day, a region and a service: nested HMACs.
    private func signer(day: String) throws(JOSEError) -> Signer {
        var key = try SigningKey(secret: SecretBytes("AWS4".utf8, followedBy: credentials.secret), algorithm: .hs256)
        for part in [day, region, service, "aws4_request"] { key = try key.derived(with: Array(part.utf8)) }
        return try Signer(key)
    }

    private static func precedes(_ left: String, _ right: String) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }

    private static func joined(_ query: [(String, String)]) -> String {
        query.map { "\($0.0)=\($0.1)" }.joined(separator: "&")
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
