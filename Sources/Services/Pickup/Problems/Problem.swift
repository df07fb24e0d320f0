import AdapterKit
import HTTPTypes
import NIOCore
import Pipeline

/// The reason why a call has no token, as the caller reads it (RFC 9457).
struct Problem: Error {
    let status: HTTPResponse.Status
    /// The code: one of the dead letters' codes, or one of the gateway's own.
    let code: String
    let detail: String
    /// The shortest time before the same call may be repeated, in seconds; nil where repeating it changes nothing.
    var retryAfter: Int?
    /// `WWW-Authenticate`, where the caller must show other credentials.
    var challenge: String?
    var allow: String?
    /// `Accept-Encoding`, for a coding that the gateway does not read.
    var codings: String?

    init(_ status: HTTPResponse.Status, _ code: String, _ detail: String, retryAfter: Int? = nil) {
        self.status = status
        self.code = code
        self.detail = detail
        self.retryAfter = retryAfter
    }

    /// The answer for a dead letter's code. A failure that another call does not fix is a 4xx; where it may pass with
    /// time, it states when to come back.
    init(_ code: ErrorCode, _ detail: String? = nil) {
        let detail = detail ?? code.summary.replacing("`", with: "")
        switch code {
        case .malformedEvent, .malformedReport, .missingUser, .missingChallenge:
            self.init(.badRequest, code.rawValue, detail)
        case .eventTooLarge: self.init(.contentTooLarge, code.rawValue, detail)
        case .identityMismatch: self.init(.forbidden, code.rawValue, detail)
        case .unknownApp: self.init(.notFound, code.rawValue, detail)
        case .userGone: self.init(.gone, code.rawValue, detail, retryAfter: Self.day)
        case .challengeExpired: self.init(.conflict, code.rawValue, detail)
        case .appSuspended: self.init(.serviceUnavailable, code.rawValue, detail, retryAfter: Self.probe)
        case .rejectedByVendor, .notFixableByToken:
            self.init(.conflict, code.rawValue, detail, retryAfter: Self.quarter)
        case .lookupFailed, .keyUnavailable, .mintFailed, .retriesExhausted, .unreadableBatch:
            self.init(.serviceUnavailable, code.rawValue, detail, retryAfter: Self.minute)
        case .wrongTopic, .identityMissing, .missingVouched, .unproven:
            self.init(.unprocessableContent, code.rawValue, detail, retryAfter: Self.quarter)
        }
    }

    /// The longest wait of a suspended app's devices before they ask again; the answer spreads it up to twice as long.
    static let probe = 15
    static let minute = 60
    static let quarter = 15 * 60
    static let day = 24 * 3600

    /// Returns the answer while the app's events wait: its vendor refuses the key that signs, and a probe detects when
    /// it no longer does; or an operator paused the app.
    ///
    /// - Parameter probeWait: the time until the first probe, in seconds.
    static func waiting(_ suspension: Suspension, probeWait: Int64, at now: UnixTime) -> Problem {
        func bounded(_ seconds: Int64, _ most: Int) -> Int { Int(clamping: max(1, min(seconds, Int64(most)))) }
        if suspension.cause == .paused {
            let remaining = suspension.until.map { bounded($0.seconds - now.seconds, minute) } ?? minute
            return Problem(
                .serviceUnavailable, "app_paused", "an operator paused the app at \(suspension.since)",
                retryAfter: remaining)
        }
        let first = suspension.since.seconds + probeWait - now.seconds
        return Problem(
            .serviceUnavailable, ErrorCode.appSuspended.rawValue,
            "the app is suspended since \(suspension.since); a probe decides when its tokens are minted again",
            retryAfter: first > 0 ? bounded(first, probe) : probe)
    }

    /// Returns the answer while an operator's `pause` of the live lane holds the events of every device.
    static func paused(_ pause: LanePause, at now: UnixTime) -> Problem {
        let left = pause.until.map { max(1, Int(clamping: $0.seconds - now.seconds)) } ?? minute
        return Problem(
            .serviceUnavailable, "lane_paused", "an operator paused the live lane at \(pause.since)",
            retryAfter: min(left, minute))
    }

    static func tooManyRequests(_ wait: Duration) -> Problem {
        Problem(
            .tooManyRequests, "too_many_requests", "there were too many requests lately",
            retryAfter: max(1, Int(clamping: wait.components.seconds) + 1))
    }

    static func unavailable(_ detail: String) -> Problem {
        Problem(.serviceUnavailable, "unavailable", detail, retryAfter: 2)
    }

    /// The answer to a caller that waited for a token in vain. The ask is under way, and a later call finds its
    /// outcome.
    static let unanswered = Problem(
        .serviceUnavailable, "unanswered", "no worker has answered yet; the token is asked for", retryAfter: 2)

    /// The answer to a caller for whose ask a worker published nothing: it tries again later, or the user got as many
    /// tokens lately as one may.
    static let handled = Problem(
        .serviceUnavailable, "unanswered", "a worker took the ask and has published no token for it yet", retryAfter: 5)

    /// The answer while the token topic is gone: a token that is minted now would not arrive.
    static let topicMissing = Problem(
        .serviceUnavailable, "unavailable", "the token topic does not exist or may not be read", retryAfter: 5)

    /// The answer before the gateway follows the token topic: a token that is minted now would not arrive.
    static let starting = Problem(
        .serviceUnavailable, "unavailable", "this gateway does not follow the token topic yet", retryAfter: 1)

    /// Returns the answer to an ask whose turn comes after `delay`: callers want more tokens than the gateway asks for,
    /// `rate` a second.
    static func cold(rate: Int, after delay: Duration) -> Problem {
        Problem(
            .serviceUnavailable, "unavailable",
            "this gateway asks for \(rate.of("token")) a second for users whose token it does not know, and more are wanted",
            retryAfter: Int(clamping: delay.components.seconds + 1))
    }

    /// The answer while no broker answers: nothing can be asked for.
    static let silent = Problem(.serviceUnavailable, "unavailable", "no broker answers", retryAfter: 2)

    static let draining = Problem(
        .serviceUnavailable, "draining", "this gateway is about to stop; another one answers", retryAfter: 1)

    static let noSuchCall = Problem(.notFound, "not_found", "no such call")

    static func invalid(_ detail: String) -> Problem { Problem(.badRequest, "invalid_request", detail) }

    /// The answer's body, without a time to wait.
    var text: [UInt8] { json(nil) }

    private func json(_ wait: Int?) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("type", "urn:remint:problem:\(code)")
        json.member("title", status.reasonPhrase)
        json.member("status", Int64(status.code))
        json.member("code", code)
        json.member("detail", detail)
        if let wait { json.member("retry_after", Int64(wait)) }
        json.endObject()
        return json.bytes
    }

    /// The answer. Its wait is random, between `retryAfter` and twice as much, so that callers that were refused
    /// together do not come back together.
    var answer: Answer {
        let wait = retryAfter.map { Int.random(in: $0...($0 * 2)) }
        var headers: HTTPFields = [.contentType: "application/problem+json", .cacheControl: "no-store"]
        if let wait { headers[.retryAfter] = "\(wait)" }
        if let challenge { headers[.wwwAuthenticate] = challenge }
        if let allow { headers[.allow] = allow }
        if let codings { headers[.acceptEncoding] = codings }
        return Answer(status, headers, body: ByteBuffer(bytes: json(wait)))
    }
}
