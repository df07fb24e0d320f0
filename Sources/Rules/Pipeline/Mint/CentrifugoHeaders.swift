import AdapterKit

/// The headers that make Centrifugo's Kafka consumer publish a token's record to the channel of its user only.
///
/// The channel is the subject key in another notation: `remint:<app>#<user>`, with several ids joined by `;`. Its parts
/// are percent-encoded like the key's. A comma in the header would separate two channels, and one after the `#` two
/// users.
enum CentrifugoHeaders {
    /// The maximum length of a channel in Centrifugo's default configuration, in characters.
    static let longestChannel = 255
    private static let namespace: StaticString = "remint:"

    /// Appends the headers of the token with the subject key `key`. Appends none if the channel is longer than
    /// Centrifugo allows, because Centrifugo would refuse the record.
    ///
    /// - Parameter isChallenged: whether the token answers a challenge. The challenge is the last part of the key and
    ///   not part of the channel. Versions do not grow across challenges, and Centrifugo drops records that are not
    ///   newer.
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
