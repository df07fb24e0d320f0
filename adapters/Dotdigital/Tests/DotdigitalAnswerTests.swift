import AdapterKit
import AdapterTestSupport
import DotdigitalAdapter
import Testing

@Suite struct DotdigitalAnswerTests {
    private let user = Subject(user: "u-1001", challenge: "n-1")

    /// The answers that mean the same for a profile and for a contact.
    private static let common: [AnswerSample] = [
        .init(200, "", "unreadable"), .init(200, "{}", "unreadable"), .init(200, "null", "unreadable"),
        .init(200, "[]", "unreadable"), .init(200, "<html>", "unreadable"), .init(204, "", "unreadable"),
        .init(202, #"{"id":"u-1001","identifiers":{"email":"u-1001"}}"#, "unreadable"),
        .init(302, "", "misconfigured"), .init(400, "", "misconfigured"),
        .init(400, #"{"errorCode":"contacts:invalidId","description":"","details":[]}"#, "misconfigured"),
        .init(400, #"{"message":"ERROR_APIUSAGE_EXCEEDED"}"#, "throttled"),
        .init(400, #"{"message":"Error: ERROR_APIUSAGE_EXCEEDED - try later"}"#, "throttled"),
        .init(400, "<ApiError><Message>ERROR_APIUSAGE_EXCEEDED</Message></ApiError>", "throttled"),
        .init(401, "", "misconfigured"), .init(401, #"{"message":"ERROR_APIUSAGE_EXCEEDED"}"#, "misconfigured"),
        .init(403, "{}", "misconfigured"), .init(404, "<html>", "misconfigured"), .init(405, "", "misconfigured"),
        .init(408, "", "unavailable"), .init(429, "", "throttled"), .init(500, "", "unavailable"),
        .init(500, #"{"message":"ERROR_APIUSAGE_EXCEEDED"}"#, "unavailable"),
        .init(503, #"{"id":"u-1001"}"#, "unavailable"),
    ]

    private static let profiles: [AnswerSample] = [
        .init(200, #"{"id":"u-1001","_createdOn":"x","_systemProfile":false,"email":"u@example.com"}"#, "exists"),
        .init(200, #"{"id":"\u0075-1001"}"#, "exists"),
        .init(200, #"{"id":"u-1001","_deleted":false,"deleted":null,"_deletedOn":null}"#, "exists"),
        .init(200, #"{"id":"u-1001","_deletedOn":""}"#, "exists"),
        .init(200, #"{"id":"u-1001","deleted":"no","_Deleted":true,"custom":{"_deleted":true}}"#, "exists"),
        .init(200, #"{"id":"u-1001","_deleted":true}"#, "gone"),
        .init(200, #"{"deleted":true,"id":"u-1001"}"#, "gone"),
        .init(200, #"{"id":"u-1001","_deletedOn":"2026-11-21T10:00:00Z"}"#, "gone"),
        .init(200, #"{"id":"u-1001","_deletedOn":1800000000}"#, "gone"),
        .init(200, #"{"id":"u-1002"}"#, "mismatched"), .init(200, #"{"id":"U-1001"}"#, "mismatched"),
        .init(200, #"{"id":"u-1001 "}"#, "mismatched"), .init(200, #"{"id":""}"#, "mismatched"),
        .init(200, #"{"id":"u-1002","_deleted":true}"#, "mismatched"),
        .init(200, #"{"id":1001}"#, "unreadable"), .init(200, #"{"id":null}"#, "unreadable"),
        .init(200, #"{"sub":"u-1001"}"#, "unreadable"), .init(200, #"[{"id":"u-1001"}]"#, "unreadable"),
        .init(200, #"{"id":"u-1001""#, "unreadable"), .init(200, #"{"id":"u-1001","id":"u-1001"}"#, "unreadable"),
        .init(404, "", "unknown"), .init(404, "\r\n", "unknown"), .init(404, #"{"status":404}"#, "unknown"),
        .init(404, #""not found""#, "misconfigured"), .init(404, "{", "misconfigured"),
    ]

    private static let contacts: [AnswerSample] = [
        .init(200, #"{"contactId":7,"status":"subscribed","identifiers":{"email":"u-1001"}}"#, "exists"),
        .init(200, #"{"identifiers":{"email":"u-1001"},"_deleted":true}"#, "exists"),
        .init(200, #"{"identifiers":{"email":"U-1001"}}"#, "mismatched"),
        .init(200, #"{"identifiers":{"email":"u-1002","mobileNumber":"u-1001"}}"#, "mismatched"),
        .init(200, #"{"contactId":7,"identifiers":{"mobileNumber":"u-1001"}}"#, "unreadable"),
        .init(200, #"{"contactId":7,"email":"u-1001"}"#, "unreadable"),
        .init(200, #"{"id":"u-1001"}"#, "unreadable"), .init(200, #"{"identifiers":{"email":null}}"#, "unreadable"),
        .init(200, #"{"identifiers":["u-1001"]}"#, "unreadable"),
        .init(404, #"{"errorCode":"contacts:contactNotFound","description":"no","details":[]}"#, "unknown"),
        .init(404, #"{"errorCode":"contacts:identifierNotFound"}"#, "misconfigured"),
        .init(404, "", "misconfigured"), .init(404, "{}", "misconfigured"),
    ]

    @Test(arguments: common + profiles) func `Dotdigital's answers about a profile are understood`(
        _ sample: AnswerSample
    ) throws {
        #expect(try DotdigitalLookupTests.makeAdapter().words(on: sample.response, for: [user]) == [sample.meaning])
    }

    @Test(arguments: common + contacts) func `Dotdigital's answers about a contact are understood`(
        _ sample: AnswerSample
    ) throws {
        let adapter = try DotdigitalLookupTests.makeAdapter(contactBy: "email")
        #expect(adapter.words(on: sample.response, for: [user]) == [sample.meaning])
    }

    /// Identifiers, a user id, an answer and its meaning.
    private static let identifiers: [(name: String, id: String, sample: AnswerSample)] = [
        ("contactId", "1001", .init(200, #"{"contactId":1001}"#, "exists")),
        ("contactId", "1001", .init(200, #"{"contactId":"1001"}"#, "exists")),
        ("contactId", "01001", .init(200, #"{"contactId":1001}"#, "mismatched")),
        ("contactId", "1001", .init(200, #"{"contactId":1002}"#, "mismatched")),
        ("contactId", "1001", .init(200, #"{"contactId":1001.0}"#, "unreadable")),
        ("contactId", "1001", .init(200, #"{"identifiers":{"contactId":1001}}"#, "unreadable")),
        ("mobileNumber", "4415", .init(200, #"{"identifiers":{"mobileNumber":"4415"}}"#, "exists")),
        ("mobileNumber", "4415", .init(200, #"{"identifiers":{"mobileNumber":4415}}"#, "exists")),
        ("mobileNumber", "+4415", .init(200, #"{"identifiers":{"mobileNumber":"4415"}}"#, "mismatched")),
        ("card", "c-1", .init(200, #"{"identifiers":{"card":"c-1","email":"x"}}"#, "exists")),
        ("card", "c-1", .init(200, #"{"identifiers":{"card":"c-2","email":"c-1"}}"#, "mismatched")),
        ("card", "c-1", .init(200, #"{"dataFields":{"card":"c-1"},"identifiers":{}}"#, "unreadable")),
    ]

    @Test(arguments: identifiers.indices) func `the answer's identifier is compared with the one asked for`(
        _ index: Int
    ) throws {
        let (name, id, sample) = Self.identifiers[index]
        let adapter = try DotdigitalLookupTests.makeAdapter(contactBy: name)
        #expect(adapter.words(on: sample.response, for: [Subject(user: id)]) == [sample.meaning])
    }

    @Test func `another spelling of an accent in Dotdigital's answer is another user`() throws {
        let adapters = [
            (try DotdigitalLookupTests.makeAdapter(), { (id: String) in #"{"id":"\#(id)"}"# }),
            (
                try DotdigitalLookupTests.makeAdapter(contactBy: "email"),
                { (id: String) in #"{"identifiers":{"email":"\#(id)"}}"# }
            ),
        ]
        for (adapter, body) in adapters {
            for (asked, named) in [("\u{E9}", "e\u{301}"), ("e\u{301}", "\u{E9}")] {
                let subject = Subject(user: asked, challenge: "n")
                #expect(
                    adapter.words(on: AnswerSample(200, body(named), "").response, for: [subject]) == ["mismatched"])
                #expect(adapter.words(on: AnswerSample(200, body(asked), "").response, for: [subject]) == ["exists"])
            }
        }
    }
}
