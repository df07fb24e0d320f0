import AdapterKit
import HTTPTypes
@_spi(Decryption) import JOSE
import NIOCore

/// The answer with a device's token: the token, its lifetime, and the SDK's call that applies it.
struct TokenAnswer {
    private let json: [UInt8]
    private let version: Int64

    /// The answer with `token`, a token of `subject`.
    ///
    /// - Parameter keys: the keys that open sealed tokens.
    /// - Throws: `Problem` where the token is sealed for another recipient, or is no token.
    init(
        _ token: HeldToken, of subject: Subject, for app: PickupApp, opening keys: [JWEDecryptionKey], at now: UnixTime
    ) throws(Problem) {
        var json = JSONWriter(capacity: token.text.count + 256)
        json.beginObject()
        json.member("app", app.name)
        json.member("vendor", app.adapter.name)
        let text = String(decoding: token.text, as: UTF8.self)
        json.member("token", token.isSealed ? try Self.open(text, keys) : text)
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

    private static func open(_ text: String, _ keys: [JWEDecryptionKey]) throws(Problem) -> String {
        do throws(JOSEError) {
            let token = try CompactJWE(parsing: Array(text.utf8)).open(withAnyOf: keys).plaintext
            if let text = String(validating: token, as: UTF8.self) { return text }
        } catch {}
        throw Problem.unavailable("the token is sealed for a key this gateway has not")
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
