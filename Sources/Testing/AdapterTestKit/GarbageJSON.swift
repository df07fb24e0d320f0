/// Random input that is the same on every run.
struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// JSON nobody meant to send.
enum GarbageJSON {
    /// Names that mean something to some adapter, so that garbage reaches the code behind them.
    private static let names = [
        "code", "errorCode", "error_code", "reason", "userId", "user_id", "signature", "externalId", "customerIds",
        "nonce", "expiresOn", "provider", "mm_code", "messageId", "externalUserId", "requestError", "serviceException",
        "sdkAuthenticationError", "domain", "status", "sub", "reissue", "user", "",
    ]
    private static let texts = [
        "", "null", "22", "-1", "99999999999999999999", "{}", "{", "{code=22}", "{code=,userId=}", "{=}", "a.b.c",
        "\u{0}",
        "\u{1F511}", "TOKEN_EXPIRED", "jsonWebToken", "2026-02-30T00:00:00Z", "9999-12-31T23:59:59.999999999+23:59",
    ]

    static func value(depth: Int, random: inout some RandomNumberGenerator) -> [UInt8] {
        Array(text(depth: depth, random: &random).utf8)
    }

    private static func text(depth: Int, random: inout some RandomNumberGenerator) -> String {
        switch Int.random(in: 0..<(depth > 0 ? 8 : 6), using: &random) {
        case 0: return ["null", "true", "false"].randomElement(using: &random) ?? "null"
        case 1: return String(Int64(bitPattern: random.next()))
        case 2: return ["1e400", "-0.0", "0.1", "22", "0"].randomElement(using: &random) ?? "0"
        case 3, 4, 5: return quoted(texts.randomElement(using: &random) ?? "")
        case 6:
            let elements = (0..<Int.random(in: 0..<4, using: &random)).map { _ in
                text(depth: depth - 1, random: &random)
            }
            return "[\(elements.joined(separator: ","))]"
        default:
            let chosen = names.shuffled(using: &random).prefix(Int.random(in: 0..<6, using: &random))
            let members = chosen.map { "\(quoted($0)):\(text(depth: depth - 1, random: &random))" }
            return "{\(members.joined(separator: ","))}"
        }
    }

    private static func quoted(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": escaped += "\\\(scalar)"
            case "\u{0}"..<"\u{20}": escaped += "\\u0000"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return "\"\(escaped)\""
    }

    /// Returns `text` with a few bytes changed, dropped or doubled.
    static func damaged(_ text: [UInt8], random: inout some RandomNumberGenerator) -> [UInt8] {
        var text = text
        for _ in 0..<Int.random(in: 1...3, using: &random) where !text.isEmpty {
            let index = Int.random(in: 0..<text.count, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: text[index] = UInt8.random(in: 0x20..<0x7F, using: &random)
            case 1: text.remove(at: index)
            default: text.insert(text[index], at: index)
            }
        }
        return text
    }
}
