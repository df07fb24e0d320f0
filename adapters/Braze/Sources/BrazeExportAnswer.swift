import AdapterKit

/// Braze's answer to an export of users by id.
///
/// Ids are compared byte for byte: a set of Swift's strings would take two spellings of an accented letter for one
/// user.
struct BrazeExportAnswer {
    private enum Content {
        case users(Users)
        case failure(LookupFailure)
    }

    /// A success that was understood.
    private struct Users {
        /// The ids of the users in it.
        var found: Set<[UInt8]> = []
        /// The ids Braze calls invalid.
        var invalid: Set<[UInt8]> = []
        /// True if a user in it has no id, or was not in the request.
        var namesStranger = false
        /// True if it contains errors, so that a missing user is not necessarily unknown.
        var reportsErrors = false
    }

    private let content: Content

    init(_ response: LookupResponse, about subjects: [Subject]) {
        guard (200...299).contains(response.status) else {
            content = .failure(Self.failure(status: response.status))
            return
        }
        let root = try? JSONDocument(parsing: response.body).root
        let message = root?["message"]?.string?.lowercased()
        // In maintenance Braze answers 202 and does nothing yet. The word counts, not the status: it is never good news.
        if message == "queued" {
            content = .failure(LookupFailure(.throttled, "Braze is in maintenance and queues what it is asked"))
        } else if message == "success", let root, var users = Self.users(in: root) {
            let asked = Set(subjects.compactMap { BrazeExportRequest.id(of: $0).map { Array($0.utf8) } })
            users.namesStranger = users.namesStranger || !users.found.isSubset(of: asked)
            content = .users(users)
        } else {
            content = .failure(LookupFailure(status: response.status))
        }
    }

    func verdict(on subject: Subject) -> LookupVerdict {
        guard let id = BrazeExportRequest.id(of: subject) else {
            return .unanswered(LookupFailure(.misconfigured, "a subject without a user id cannot be asked about"))
        }
        switch content {
        case .failure(let failure): return .unanswered(failure)
        case .users(let users): return verdict(on: Array(id.utf8), users)
        }
    }

    private func verdict(on id: [UInt8], _ users: Users) -> LookupVerdict {
        switch (users.found.contains(id), users.invalid.contains(id)) {
        case (true, false): return .exists(Enrichment())
        case (false, true): return .unknown
        case (true, true):
            return .unanswered(LookupFailure(.unreadable, "the answer calls one id both a user and invalid"))
        case (false, false): return missing(users)
        }
    }

    /// Returns the verdict about an id that is missing in the answer. Braze omits users that it deleted or never had.
    /// But a user that was not in the request can be this one under a new id, so neither "unknown" nor "exists" is
    /// certain.
    private func missing(_ users: Users) -> LookupVerdict {
        if users.namesStranger {
            return .unanswered(
                LookupFailure(.mismatched, "the answer names a user nobody asked about; was an id renamed in Braze?"))
        }
        if users.reportsErrors {
            return .unanswered(LookupFailure(.unreadable, "the answer leaves users out and reports errors"))
        }
        return .unknown
    }

    // MARK: Reading

    /// The users in a success; nil where a member is not of the documented type, since then nothing in it is certain.
    private static func users(in root: JSONValue) -> Users? {
        guard let list = root["users"], list.isArray, let invalid = texts(root["invalid_user_ids"]) else { return nil }
        var users = Users(invalid: invalid)
        for user in list.elements {
            guard user.isObject else { return nil }
            // Empty fields are left out: a profile with nothing but an alias has no `external_id`.
            guard let id = user["external_id"], !id.isNull else {
                users.namesStranger = true
                continue
            }
            guard let text = id.string else { return nil }
            users.found.insert(Array(text.utf8))
        }
        if let errors = root["errors"], !errors.isNull {
            users.reportsErrors = !errors.isArray || !errors.elements.isEmpty
        }
        return users
    }

    /// The strings of a list that may be absent; nil where it is anything else.
    private static func texts(_ list: JSONValue?) -> Set<[UInt8]>? {
        guard let list, !list.isNull else { return [] }
        guard list.isArray else { return nil }
        var texts: Set<[UInt8]> = []
        for element in list.elements {
            guard let text = element.string else { return nil }
            texts.insert(Array(text.utf8))
        }
        return texts
    }

    /// Returns the failure that Braze means by a status (its pages "API errors" and "Export users by identifier").
    private static func failure(status: Int) -> LookupFailure {
        switch status {
        case 400: LookupFailure(.misconfigured, "status 400: Braze refuses the request's body")
        case 401: LookupFailure(.misconfigured, "status 401: Braze refuses the REST API key")
        case 403: LookupFailure(.misconfigured, "status 403: the account's plan does not allow exports")
        case 404:
            LookupFailure(
                .misconfigured, "status 404: Braze does not know the REST API key; is the endpoint its instance's?")
        default: LookupFailure(status: status)
        }
    }
}
