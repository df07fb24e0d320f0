import AdapterKit

/// Words about a clock or an expiry beside a code. With them a vendor names the time as the cause, and not the key.
struct ClockWords {
    private let adapter: any Adapter
    private let now: UnixTime

    init(_ adapter: any Adapter, at now: UnixTime) {
        self.adapter = adapter
        self.now = now
    }

    /// The members in which SDKs report a vendor's words.
    private static let members = [
        "message", "msg", "mm_message", "errorMsg", "errorMessage", "technicalMessage", "reason", "errorReason",
        "error_reason", "description", "errorDescription", "text",
    ]

    /// Names each member of the report `root`, which `reading` is of, beside whose words a code still blames the key.
    func violations(in root: JSONValue, _ reading: Reading) -> [String] {
        guard case .failure(let failure) = reading, failure.evidence == .key else { return [] }
        return ["token is expired (exp)", "token not valid yet (nbf)", "Token used before issued"].flatMap { words in
            Self.members.compactMap { name in
                guard let changed = Self.replacing(name, with: words, in: root),
                    case .failure(let other) = adapter.reading(of: Report(changed, observedAt: now)),
                    other.reason == failure.reason, other.evidence == .key
                else { return nil }
                return "\(failure.reason) blames the key beside \"\(name)\": \"\(words)\""
            }
        }
    }

    /// Returns `root` with `text` as the member `name`, on any level; nil where no level has the member as a string.
    private static func replacing(_ name: String, with text: String, in root: JSONValue) -> JSONValue? {
        var json = JSONWriter()
        var isReplaced = false
        func copy(_ value: JSONValue) {
            guard value.isObject else { return json.raw(value.json) }
            json.beginObject()
            for member in value.members {
                json.name(member.name)
                if member.name == name, member.value.isString {
                    json.string(text)
                    isReplaced = true
                } else {
                    copy(member.value)
                }
            }
            json.endObject()
        }
        copy(root)
        return isReplaced ? try? JSONDocument(parsing: json.bytes).root : nil
    }
}
