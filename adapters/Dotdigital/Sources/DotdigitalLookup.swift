import AdapterKit

/// The requests to Dotdigital's REST API, and the meaning of its answers (CPaaS profiles; contacts, version 3).
struct DotdigitalLookup {
    let target: DotdigitalSettings.Lookup

    /// One request a user, about the user alone: the challenge is between the device and the push SDK's own servers.
    func requests(for subjects: [Subject], mode: LookupMode) -> Lookup {
        let users = subjects.compactMap(\.user).filter { !$0.isEmpty }
        guard mode != .off, !users.isEmpty, users.count == subjects.count else { return .none }
        return .requests(
            users.enumerated().map { index, user in
                LookupRequest(method: .get, path: path(to: user), subjects: index..<(index + 1))
            })
    }

    /// Returns the verdict of `response` on `subject`.
    func verdict(on response: LookupResponse, for subject: Subject) -> LookupVerdict {
        switch response.status {
        case 200: verdict(on: response.body, for: subject)
        case 400 where response.body.contains(Self.usageExceeded):
            .unanswered(LookupFailure(.throttled, "status 400: the account's API usage is exceeded"))
        case 404 where isMissing(response.body): .unknown
        case let status: .unanswered(LookupFailure(status: status))
        }
    }

    // MARK: The question

    private func path(to user: String) -> String {
        switch target {
        // A deleted profile is shown with this parameter alone; without it, it would pass for one not met yet.
        case .profile: "/cpaas/profiles/\(PercentEncoding.pathSegment(user))?includeDeleted=true"
        case .contact(let identifier):
            "/contacts/v3/\(PercentEncoding.pathSegment(identifier))/\(PercentEncoding.pathSegment(user))"
        }
    }

    // MARK: The answer

    private func verdict(on body: [UInt8], for subject: Subject) -> LookupVerdict {
        guard let root = try? JSONDocument(parsing: body).root, let named = user(in: root) else {
            return .unanswered(LookupFailure(status: 200))
        }
        guard named.hasSameBytes(as: subject.user) else {
            return .unanswered(LookupFailure(.mismatched, "the answer names another user than the one asked for"))
        }
        return target == .profile && isDeleted(root) ? .gone : .exists(Enrichment())
    }

    /// The user id that an answer names.
    private func user(in answer: JSONValue) -> String? {
        switch target {
        case .profile: answer["id"]?.string
        case .contact("contactId"): Self.text(answer["contactId"])
        case .contact(let identifier): Self.text(answer["identifiers"]?[identifier])
        }
    }

    /// A string, or the digits of an integer: contact ids are numbers.
    private static func text(_ value: JSONValue?) -> String? {
        guard let value, value.integer != nil else { return value?.string }
        return String(decoding: value.rawBytes, as: UTF8.self)
    }

    /// Whether a profile is marked as deleted. The mark's name is not documented, so each that the other members' names
    /// suggest is taken; a profile without a mark lives.
    private func isDeleted(_ profile: JSONValue) -> Bool {
        if ["_deleted", "deleted"].contains(where: { profile[$0]?.bool == true }) { return true }
        guard let time = profile["_deletedOn"], !time.isNull else { return false }
        return time.string != ""
    }

    /// Whether a 404 is about the user and not about a path that is not there.
    ///
    /// The specification shows no body for a missing profile; that of a framework, a JSON object, is taken for the same. A
    /// page of HTML comes from another server.
    private func isMissing(_ body: [UInt8]) -> Bool {
        let root = try? JSONDocument(parsing: body).root
        switch target {
        case .profile: return body.allSatisfy { $0 <= 0x20 } || root?.isObject == true
        case .contact: return root?["errorCode"]?.string == "contacts:contactNotFound"
        }
    }

    /// The older scheme's word for a rate limit (2000 requests an hour), in a 400.
    private static let usageExceeded = Array("ERROR_APIUSAGE_EXCEEDED".utf8)
}
