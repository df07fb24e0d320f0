public import AdapterKit
public import AdapterStubs

/// Looking a user up: `POST /users/export/ids` of Braze's REST API, with a REST key that has the permission
/// `users.export.ids` (Braze's reference of that endpoint).
extension BrazeAdapter: StubbedAdapter {
    /// Every instance has its own endpoint, so there is none to assume. Braze documents two limits: 250 a minute, and 40 a
    /// second for requests that ask for neither campaigns nor canvases, as ours never do. No document names which of
    /// them an account has, so both are kept, and an app that knows better may configure up to 40 a second.
    ///
    /// Braze does not distinguish a deleted user from one it never met. A token for a deleted user would create the
    /// profile again, so an unknown user gets none unless the app's configuration allows it.
    public var lookupTerms: LookupTerms? {
        LookupTerms(
            authorization: .key(scheme: "Bearer"), batch: BrazeExportRequest.batch, rates: BrazeExportRequest.rates,
            ceiling: BrazeExportRequest.ceiling, unknownUser: .reject)
    }

    /// Returns the request that asks the vendor about `subjects`.
    public func lookup(for subjects: [Subject], mode: LookupMode) -> Lookup {
        guard mode != .off, !subjects.isEmpty else { return .none }
        let starts = stride(from: 0, to: subjects.count, by: BrazeExportRequest.batch)
        return .requests(
            starts.map { start in
                let range = start..<min(start + BrazeExportRequest.batch, subjects.count)
                return LookupRequest(
                    method: .post, path: BrazeExportRequest.path, body: BrazeExportRequest.body(for: subjects[range]),
                    subjects: range)
            })
    }

    /// Returns what `response` means for each of `subjects`, in their order.
    public func verdicts(from response: LookupResponse, for subjects: [Subject]) -> [LookupVerdict] {
        let answer = BrazeExportAnswer(response, about: subjects)
        return subjects.map(answer.verdict)
    }

    /// Braze's export in small, a `BrazeStub`.
    public func stub(_ setting: StubSetting) -> (any VendorStub)? { BrazeStub(setting) }
}

/// The request of the export, and its limits.
enum BrazeExportRequest {
    static let path = "/users/export/ids"
    /// More ids in one request are refused with 400.
    static let batch = 50
    static let rates = [LookupTerms.Rate(250, perSeconds: 60), ceiling]
    static let ceiling = LookupTerms.Rate(40)
    /// Younger accounts must name the fields, and the faster of the two limits holds only without campaigns and canvases.
    static let fields = ["external_id", "braze_id", "user_aliases"]

    static func body(for subjects: ArraySlice<Subject>) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.name("external_ids")
        write(subjects.compactMap(id), to: &json)
        json.name("fields_to_export")
        write(fields, to: &json)
        json.endObject()
        return json.bytes
    }

    /// The id to ask about; nil where there is none. One empty id could have the other forty-nine refused with it.
    static func id(of subject: Subject) -> String? { subject.user.flatMap { $0.isEmpty ? nil : $0 } }

    private static func write(_ texts: [String], to json: inout JSONWriter) {
        json.beginArray()
        for text in texts { json.string(text) }
        json.endArray()
    }
}
