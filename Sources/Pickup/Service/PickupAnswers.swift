import AdapterKit
import HTTPTypes
import Hummingbird
@_spi(Decryption) import JOSE
import NIOCore

/// HTTP answers for outcomes, states and files.
enum PickupAnswers {
    /// Returns the answer for the outcome of an ask.
    ///
    /// - Throws: `Problem` where a token has ended, or is sealed for another recipient.
    static func response(
        to outcome: TokenAsks.Outcome, of subject: Subject, _ app: PickupApp, opening keys: [JWEDecryptionKey],
        at now: UnixTime
    ) throws(Problem) -> Response {
        switch outcome {
        case .token(let token):
            guard token.expiresAt > now.seconds else { throw Problem.unavailable("no live token came") }
            return try TokenAnswer(token, of: subject, for: app, opening: keys, at: now).response
        case .nothing, .waits: return Response(status: .noContent, headers: [.cacheControl: "no-store"])
        case .accepted(let event, let after, let challenge):
            var url = "/v1/apps/\(PercentEncoding.encoded(app.name))/token?after=\(after)"
            if let challenge { url += "&challenge=\(PercentEncoding.encoded(challenge))" }
            var response = json(.accepted) { json in
                json.member("event_id", event)
                json.member("after", after)
                json.member("token_url", url)
            }
            response.headers[.location] = url
            return response
        }
    }

    /// Returns the gateway's readiness, with the problem of each dependency.
    static func ready(_ health: GatewayHealth) -> Response {
        let readiness = health.readiness
        return json(readiness.isReady ? .ok : .serviceUnavailable) { json in
            json.member("status", readiness.isReady ? "ready" : "not_ready")
            json.name("dependencies")
            json.beginObject()
            for (dependency, problem) in readiness.dependencies { json.member(dependency.rawValue, problem ?? "ok") }
            json.endObject()
            json.member("followed_records", Int64(health.followedRecords))
        }
    }

    static func json(_ code: HTTPResponse.Status, _ body: (inout JSONWriter) -> Void) -> Response {
        var json = JSONWriter()
        json.beginObject()
        body(&json)
        json.endObject()
        return Response(
            status: code, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: json.bytes)))
    }

    static func file(_ file: PickupResources, _ type: String) -> Response {
        Response(
            status: .ok,
            headers: [.contentType: type, HTTPField.Name("X-Content-Type-Options") ?? .via: "nosniff"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: file.bytes)))
    }
}
