import AdapterKit
import Records

/// The shared parts of the records of tokens that one key signs for one app within one second. There may be hundreds in
/// a second, and each record would format these parts again.
final class TokenFrame: Sendable {
    /// The second of issue.
    let seconds: Int64
    /// The headers from `ce_source` to `ce_type`.
    let source: [UInt8]
    /// The headers from `ce_time` to `remint-key-ring`.
    let key: [UInt8]
    /// The value from the end of the token up to its expiry time.
    let value: [UInt8]

    /// The first header of every token's record.
    static let specVersion = ByteWriter.bytes { $0.append(header: "ce_specversion") { $0.append("1.0") } }

    /// Creates the frame for tokens of `app` that `key` signs at `seconds`; `text` is that second in the form of RFC
    /// 3339.
    init(_ app: App, _ key: SigningKeyReference, issuedAt seconds: Int64, _ text: [UInt8]) {
        self.seconds = seconds
        source = ByteWriter.bytes { bytes in
            bytes.append(header: "ce_source") { $0.append(app.eventSource) }
            bytes.append(header: "ce_type") { $0.append("remint.token.replaced.v1") }
        }
        self.key = ByteWriter.bytes { bytes in
            bytes.append(header: "ce_time") { $0.append(text) }
            bytes.append(header: "content-type") { $0.append("application/json") }
            bytes.append(header: "remint-key-id") { $0.append(key.version.utf8.span) }
            bytes.append(header: "remint-key-ring") { $0.append(key.ring.utf8.span) }
        }
        value = ByteWriter.bytes { json in
            json.append(#"","algorithm":"#)
            json.append(quoting: key.algorithm.rawValue)
            json.append(#","key_id":"#)
            json.append(quoting: key.version)
            json.append(#","issued_at":"#)
            json.append(decimal: seconds)
            json.append(#","expires_at":"#)
        }
    }
}
