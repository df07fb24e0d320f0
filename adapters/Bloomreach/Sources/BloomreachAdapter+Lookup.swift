public import AdapterKit
public import AdapterStubs

/// Looking a customer up: `POST …/customers/attributes` of the Engagement project that the setting `lookup_project` names
/// (Bloomreach's reference of that call). An event stream stores nobody, so without a project there is nobody to ask.
extension BloomreachAdapter: StubbedAdapter {
    /// The endpoint most accounts have; HTTP Basic with the id and the secret of a key of the private group. The limit of
    /// this call is not documented: ten a second is ours.
    public var lookupTerms: LookupTerms? {
        guard settings.lookupProject != nil else { return nil }
        return LookupTerms(
            endpoint: "https://api.exponea.com", authorization: .basic, rates: BloomreachAttributes.rates)
    }

    /// Returns the request that asks the vendor about `subjects`.
    public func lookup(for subjects: [Subject], mode: LookupMode) -> Lookup {
        guard mode != .off, !subjects.isEmpty, let project = settings.lookupProject else { return .none }
        return .requests(
            subjects.enumerated().map { place, subject in
                LookupRequest(
                    method: .post, path: BloomreachAttributes.path(in: project),
                    body: BloomreachAttributes.body(for: subject), subjects: place..<(place + 1))
            })
    }

    /// A response is about one customer.
    public func verdicts(from response: LookupResponse, for subjects: [Subject]) -> [LookupVerdict] {
        guard subjects.count == 1, let subject = subjects.first else {
            return subjects.map { _ in .unanswered(LookupFailure(.unreadable, "an answer is about one customer")) }
        }
        return [BloomreachAnswer(response).verdict(on: BloomreachAttributes.ids(of: subject))]
    }

    /// The project's customers in small, a `BloomreachStub`.
    public func stub(_ setting: StubSetting) -> (any VendorStub)? {
        settings.lookupProject.map { BloomreachStub(setting, project: $0) }
    }
}

/// The request for a customer's attributes, and its rate.
enum BloomreachAttributes {
    static let rates = [LookupTerms.Rate(10, perSeconds: 1)]

    static func path(in project: String) -> String {
        "/data/v2/projects/\(PercentEncoding.encoded(project))/customers/attributes"
    }

    /// The customer by all ids a token would name, and each of them as an attribute, so that the answer confirms them.
    static func body(for subject: Subject) -> [UInt8] {
        let ids = ids(of: subject)
        var json = JSONWriter()
        json.beginObject()
        json.name("customer_ids")
        json.beginObject()
        for id in ids { json.member(id.name, id.value) }
        json.endObject()
        json.name("attributes")
        json.beginArray()
        for id in ids {
            json.beginObject()
            json.member("type", "id")
            json.member("id", id.name)
            json.endObject()
        }
        json.endArray()
        json.endObject()
        return json.bytes
    }

    static func ids(of subject: Subject) -> [Subject.Identifier] {
        guard case .identifiers(let ids) = subject.identity else { return [] }
        return ids
    }
}
