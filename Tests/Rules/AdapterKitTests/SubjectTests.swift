import AdapterKit
import Testing

/// A subject and the key of its tokens.
struct SubjectKey: CustomTestStringConvertible {
    let app: String
    let subject: Subject
    let key: String

    init(_ app: String, _ subject: Subject, _ key: String) {
        self.app = app
        self.subject = subject
        self.key = key
    }

    var testDescription: String { key }
}

@Suite struct SubjectTests {
    private static let keys: [SubjectKey] = [
        .init("shop-ios", Subject(user: "user-42"), "shop-ios/user-42"),
        .init(
            "web", Subject(identifiers: [.init(name: "registered", value: "ann@example.com")]),
            "web/registered=ann%40example.com"),
        .init("push", Subject(user: "u-1", challenge: "13687106-f26d"), "push/u-1/13687106-f26d"),
        .init("a", Subject(user: "a-Z.0_9~"), "a/a-Z.0_9~"),
        .init("a", Subject(user: "x/y"), "a/x%2Fy"),
        .init("a", Subject(user: "50%25"), "a/50%2525"),
        .init("a", Subject(user: "k=v"), "a/k%3Dv"),
        .init("a", Subject(user: ""), "a/"),
        .init("a b/c", Subject(user: " +&?#\u{0}\n"), "a%20b%2Fc/%20%2B%26%3F%23%00%0A"),
        .init("a", Subject(user: "\u{E9}"), "a/%C3%A9"),
        .init("a", Subject(user: "e\u{301}"), "a/e%CC%81"),
        .init("a", Subject(user: "\u{1F511}"), "a/%F0%9F%94%91"),
        .init(
            "web", Subject(identifiers: [.init(name: "registered", value: "r"), .init(name: "email_id", value: "e")]),
            "web/email_id=e/registered=r"),
        .init("web", Subject(identifiers: [.init(name: "a=b", value: "c=d/e")]), "web/a%3Db=c%3Dd%2Fe"),
        .init("push", Subject(user: "u", challenge: "n/1=%"), "push/u/n%2F1%3D%25"),
    ]

    @Test(arguments: keys) func `the subject key is the one the design fixes`(_ expected: SubjectKey) {
        #expect(text(expected.subject.key(app: expected.app)) == expected.key)
    }

    @Test func `subjects that differ in one byte are different subjects`() {
        let subjects = [
            Subject(user: "a"), Subject(user: "A"), Subject(user: "a "), Subject(user: ""),
            Subject(user: "a", challenge: "b"),
            Subject(user: "a", challenge: ""), Subject(user: "a/b"), Subject(user: "a%2Fb"), Subject(user: "a=b"),
            Subject(identifiers: [.init(name: "a", value: "b")]), Subject(identifiers: [.init(name: "a=b", value: "")]),
            Subject(identifiers: [.init(name: "a", value: ""), .init(name: "b", value: "")]),
            Subject(user: "\u{E9}"), Subject(user: "e\u{301}"), Subject(user: "\u{212B}"), Subject(user: "\u{C5}"),
        ]
        for (index, subject) in subjects.enumerated() {
            for other in subjects[(index + 1)...] {
                #expect(subject != other, "\(text(subject.key(app: ""))) and \(text(other.key(app: "")))")
            }
        }
        #expect(Set(subjects).count == subjects.count)
        #expect(Set(subjects.map { text($0.key(app: "app")) }).count == subjects.count)
    }

    @Test func `ids in any order make the same subject`() {
        let ids = [
            Subject.Identifier(name: "a", value: "1"), .init(name: "B", value: "2"), .init(name: "c", value: "3"),
        ]
        let subject = Subject(identifiers: ids)
        for order in [[2, 1, 0], [1, 2, 0], [0, 2, 1], [1, 0, 2], [2, 0, 1]] {
            let other = Subject(identifiers: order.map { ids[$0] })
            #expect(other == subject)
            #expect(other.hashValue == subject.hashValue)
        }
    }

    @Test func `ids are sorted by the bytes of names that are equal in Swift`() {
        let ids = [Subject.Identifier(name: "\u{E9}", value: "1"), .init(name: "e\u{301}", value: "2")]
        #expect(Subject(identifiers: ids) == Subject(identifiers: ids.reversed()))
    }

    @Test func `a subject is written as the identity object of a replacement token`() {
        func json(_ subject: Subject) -> String {
            text(ByteWriter.bytes { subject.write(to: &$0) })
        }
        #expect(json(Subject(user: "user-42")) == #"{"user":"user-42"}"#)
        #expect(json(Subject(user: "a\"b\n", challenge: "n")) == #"{"user":"a\"b\n"}"#)
        let ids = Subject(identifiers: [.init(name: "registered", value: "r"), .init(name: "email_id", value: "e")])
        #expect(json(ids) == #"{"email_id":"e","registered":"r"}"#)
        #expect(ids.user == nil)
        #expect(ids.challenge == nil)
    }
}
