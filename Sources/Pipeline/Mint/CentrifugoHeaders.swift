import AdapterKit

/// The headers by which Centrifugo's Kafka consumer publishes a token's record to the channel of its user alone.
///
/// The channel is the subject key in another spelling: `remint:<app>#<user>`, several ids joined by `;`. Its parts are
/// percent-encoded as the key's are, since a comma in the header would part two channels, and one behind the `#` two users.
enum CentrifugoHeaders {
    /// The most characters that Centrifugo takes for a channel, in its own default.
    static let longestChannel = 255
    private static let namespace: StaticString = "remint:"

    /// Appends the headers of the token whose subject key is `key`; none where its channel is longer than Centrifugo takes, for
    /// it would refuse the record.
    ///
    /// - Parameter isChallenged: whether the token answers a challenge, which is the last part of the key and none of the
    ///   channel's. Versions do not grow from one challenge to the next, and Centrifugo drops what is not newer.
    static func append(
        for key: [UInt8], isChallenged: Bool, version: Int64, to bytes: inout ByteWriter
    ) {
        let slash = UInt8(ascii: "/")
        let end = isChallenged ? key.lastIndex(of: slash) ?? key.count : key.count
        guard namespace.utf8CodeUnitCount + end <= longestChannel else { return }
        bytes.append(header: "x-centrifugo-channels") { channel in
            channel.append(namespace)
            var start = 0
            while let next = key[start..<end].firstIndex(of: slash) {
                channel.append(key, from: start, to: next)
                channel.append(start == 0 ? UInt8(ascii: "#") : UInt8(ascii: ";"))
                start = next + 1
            }
            channel.append(key, from: start, to: end)
        }
        bytes.append(header: "x-centrifugo-idempotency-key") { $0.append(decimal: version) }
        if !isChallenged { bytes.append(header: "x-centrifugo-version") { $0.append(decimal: version) } }
    }
}
