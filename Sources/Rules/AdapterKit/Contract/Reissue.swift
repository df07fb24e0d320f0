/// An operator's or the edge's request for a new token: `{"user":"u-42"}`, or `{"ids":{…}}` where the vendor names users by
/// several ids. It is an event of its own, never a part of a report.
package enum Reissue {
    /// The reason such a request has in logs and metrics.
    package static let reason = "REISSUE"

    /// Returns the adapter's reading of the re-issue `request`.
    package static func read(_ request: JSONValue, for adapter: any Adapter) -> Reading {
        guard request.isObject, let user = request["ids"] ?? request["user"], !user.isNull else {
            return .rejected(Rejection(.missingUser, "\"reissue\" must be an object with a \"user\", or with \"ids\""))
        }
        guard request["ids"] == nil || request["user"] == nil else {
            return .rejected(Rejection(.malformedEvent, "\"reissue\" names a user in two ways"))
        }
        do throws(Rejection) {
            let subject = try adapter.user(reissuing: user)
            return .failure(AuthenticationFailure(subject: subject, reason: reason, evidence: .none, remedy: .mint))
        } catch { return .rejected(error) }
    }

    /// Returns the request for `user`, a JSON string or an object of ids by name.
    package static func request(for user: [UInt8]) -> [UInt8] {
        ByteWriter.bytes { json in
            json.append(user.first == UInt8(ascii: "{") ? #"{"ids":"# : #"{"user":"#)
            json.append(user)
            json.append("}")
        }
    }
}

extension Subject {
    /// The user that a batch job names under `reissue.user` by a single id.
    ///
    /// - Throws: `Rejection` with `.malformedReport` for anything but a string, `.missingUser` for an empty one.
    public init(reissuing user: JSONValue) throws(Rejection) {
        guard let id = user.string else {
            throw Rejection(.malformedReport, "\"reissue.user\" must be a string, the id the SDK uses")
        }
        guard !id.isEmpty else { throw Rejection(.missingUser, "\"reissue.user\" is empty") }
        self.init(user: id)
    }
}
