import AdapterKit
import HTTPTypes
@_spi(Decryption) import JOSE
import NIOCore
import Synchronization

/// The answer with a device's token: the token, its lifetime, and the SDK's call that applies it.
struct TokenAnswer {
    private let json: [UInt8]
    private let version: Int64

    /// The answer with `token`, a token of `subject`.
    ///
    /// - Throws: `Problem` where the token is sealed for another recipient, or is no token.
    init(
        _ token: HeldToken, of subject: Subject, for app: PickupApp, opening seals: OpenedTokens, at now: UnixTime
    ) throws(Problem) {
        var json = JSONWriter(capacity: token.text.count + 256)
        json.beginObject()
        json.member("app", app.name)
        json.member("vendor", app.adapter.name)
        json.member("token", try seals.text(of: token))
        json.member("expires_at", token.expiresAt)
        json.member("expires_in", max(0, token.expiresAt - now.seconds))
        json.member("server_time", now.seconds)
        json.member("version", token.version)
        if let challenge = token.challenge ?? subject.challenge { json.member("challenge", challenge) }
        json.name("apply")
        json.beginObject()
        let call = app.adapter.deviceCall
        json.member("call", call.call)
        if call.wantsIdentifier, let user = subject.user { json.member("identifier", user) }
        json.endObject()
        json.endObject()
        self.json = json.bytes
        version = token.version
    }

    /// The answer as the data of a server-sent event.
    var bytes: [UInt8] { json }

    /// The answer as an HTTP response.
    var answer: Answer {
        Answer(
            .ok, [.contentType: "application/json", .cacheControl: "no-store", .eTag: Self.tag(version)],
            body: ByteBuffer(bytes: json))
    }

    /// Returns a version as an entity tag (RFC 9110, section 8.8.3).
    static func tag(_ version: Int64) -> String { "\"\(version)\"" }
}

/// The texts of tokens, of which a sealed one is opened once: that takes milliseconds, and all of a user's devices may
/// wait for it.
final class OpenedTokens: Sendable {
    private final class Text: Sendable {
        let opened = Mutex<String?>(nil)
    }

    /// The number of opened tokens in each of two generations, of which the older is forgotten.
    private static let most = 1000

    private let open: @Sendable ([UInt8]) -> String?
    private let texts = Mutex<(younger: [[UInt8]: Text], older: [[UInt8]: Text])>(([:], [:]))

    /// - Parameter open: returns the text in a sealed token; nil where it is sealed for another recipient.
    init(_ open: @escaping @Sendable ([UInt8]) -> String?) { self.open = open }

    convenience init(_ keys: [JWEDecryptionKey]) {
        self.init { sealed in
            let token = try? CompactJWE(parsing: sealed).open(withAnyOf: keys).plaintext
            return token.flatMap { String(validating: $0, as: UTF8.self) }
        }
    }

    /// - Throws: `Problem` where the token is sealed for another recipient.
    func text(of token: HeldToken) throws(Problem) -> String {
        guard token.isSealed else { return String(decoding: token.text, as: UTF8.self) }
        let text = texts.withLock { texts in
            let text = texts.younger[token.text] ?? texts.older[token.text] ?? Text()
            if texts.younger.count >= Self.most { texts = ([:], texts.younger) }
            texts.younger[token.text] = text
            return text
        }
        let opened = text.opened.withLock { opened in
            opened = opened ?? open(token.text)
            return opened
        }
        guard let opened else { throw Problem.unavailable("the token is sealed for a key this gateway has not") }
        return opened
    }
}
