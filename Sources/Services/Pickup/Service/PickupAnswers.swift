import AdapterKit
import HTTPTypes
import NIOCore

/// HTTP answers for outcomes, states and files.
enum PickupAnswers {
    /// Returns the answer for the outcome of an ask.
    ///
    /// - Throws: `Problem` where a token has expired, or is sealed for another recipient.
    static func answer(
        to outcome: TokenAsks.Outcome, of subject: Subject, _ app: PickupApp, opening seals: OpenedTokens,
        at now: UnixTime
    ) throws(Problem) -> Answer {
        switch outcome {
        case .token(let token):
            guard token.expiresAt > now.seconds else { throw Problem.unavailable("no live token came") }
            return try TokenAnswer(token, of: subject, for: app, opening: seals, at: now).answer
        case .nothing, .waits: return Answer(.noContent, [.cacheControl: "no-store"])
        case .accepted(let event, let after, let challenge):
            var url = "/v1/apps/\(PercentEncoding.encoded(app.name))/token?after=\(after)"
            if let challenge { url += "&challenge=\(PercentEncoding.encoded(challenge))" }
            var answer = json(.accepted) { json in
                json.member("event_id", event)
                json.member("after", after)
                json.member("token_url", url)
            }
            answer.headers[.location] = url
            return answer
        }
    }

    /// Returns the gateway's readiness, with the problem of each dependency.
    static func ready(_ health: GatewayHealth) -> Answer {
        let readiness = health.readiness
        return json(readiness.isReady ? .ok : .serviceUnavailable) { json in
            json.member("status", readiness.isReady ? "ready" : "not_ready")
            json.name("dependencies")
            json.beginObject()
            for (dependency, problem) in readiness.dependencies {
                let well = readiness.unknown.contains(dependency) ? "not known" : "ok"
                json.member(dependency.rawValue, problem ?? well)
            }
            json.endObject()
            json.member("followed_records", Int64(health.followedRecords))
        }
    }

    static func json(_ code: HTTPResponse.Status, _ body: (inout JSONWriter) -> Void) -> Answer {
        var json = JSONWriter()
        json.beginObject()
        body(&json)
        json.endObject()
        return Answer(
            code, [.contentType: "application/json", .cacheControl: "no-store"], body: ByteBuffer(bytes: json.bytes))
    }

    static func file(_ file: PickupResources) -> Answer {
        Answer(
            .ok, [.contentType: file.contentType, HTTPField.Name("X-Content-Type-Options") ?? .via: "nosniff"],
            body: ByteBuffer(bytes: file.bytes))
    }
}
