import AdapterKit
import DeclaredAdapters
import DeclaredTesting
import Foundation
import Testing
import YAMLReading

/// The strings that a member of `vouched` or a setting may be: the words of `of`, or the form `uuid`.
@Suite struct AllowedStringsTests {
    private static let roles = "roles: { type: texts, required: true,"
    private static let nick = "nick: { type: text,"
    private static let uuid = "0f8fad5b-d9cb-469f-a165-70867728950e"

    private func text(_ passage: String, _ replacement: String) throws -> String {
        let text = try Places.text(ofRules: "rooms")
        try #require(text.contains(passage))
        return text.replacing(passage, with: replacement, maxReplacements: 1)
    }

    /// Returns the code and the detail with which a vouched `nick` or `roles` is refused; nil where it is accepted.
    private func refusal(of member: String, by text: String) throws -> Rejection? {
        let adapter = try Places.vendor(text).adapter(settings: Array("{}".utf8))
        let members = try JSONDocument(parsing: Array(#"{"user":"u1",\#(member)}"#.utf8)).root
        do throws(Rejection) { _ = try adapter.user(vouchedBy: members) } catch { return error }
        return nil
    }

    @Test(arguments: [#""agent""#, #""visitor""#, #""a/b""#, #""a\/b""#, #""\u0061gent""#])
    func `a vouched word of the list is accepted, also with escapes`(_ word: String) throws {
        let text = try text(Self.nick, "\(Self.nick) of: [agent, visitor, a/b],")
        #expect(try refusal(of: "\"nick\":\(word)", by: text) == nil)
    }

    @Test(arguments: [
        #""Agent""#, #""agents""#, #""agen""#, "\"\"", #"" agent""#, "1", "null", #"["agent"]"#, #""\u0041gent""#,
    ])
    func `a vouched word that is not in the list is a malformed event`(_ word: String) throws {
        let text = try text(Self.nick, "\(Self.nick) of: [agent, visitor],")
        let rejection = try #require(try refusal(of: "\"nick\":\(word)", by: text))
        #expect(rejection.code == .malformedEvent)
        #expect(rejection.detail.contains("\"vouched.nick\" is not "))
    }

    @Test func `each string of a vouched list is a word of the member's list`() throws {
        let text = try text(Self.roles, "\(Self.roles) of: [host, guest],")
        #expect(try refusal(of: #""roles":["host","guest","host"]"#, by: text) == nil)
        let rejection = try #require(try refusal(of: #""roles":["host","admin"]"#, by: text))
        #expect(rejection.code == .malformedEvent)
        #expect(rejection.detail == "\"vouched.roles\" is not one of host, guest")
    }

    @Test func `a vouched UUID is accepted in lower case alone`() throws {
        let text = try text(Self.nick, "\(Self.nick) form: uuid,")
        #expect(try refusal(of: "\"nick\":\"\(Self.uuid)\"", by: text) == nil)
        let others = [
            Self.uuid.uppercased(), String(Self.uuid.dropLast()), Self.uuid + "0", Self.uuid.replacing("-", with: ""),
            "{\(Self.uuid)}", Self.uuid.replacing("f", with: "g"), Self.uuid.replacing("-", with: "0"),
        ]
        for other in others {
            let rejection = try #require(try refusal(of: "\"nick\":\"\(other)\"", by: text), "\(other)")
            #expect(rejection.code == .malformedEvent)
            #expect(rejection.detail == "\"vouched.nick\" is not a UUID in lower case")
        }
    }

    @Test func `a setting of the form uuid refuses every other string`() throws {
        let setting =
            "settings:\n  site: { type: text, required: true, form: uuid, about: \"the site's id\" }\n\nreport:\n"
        let vendor = try Places.vendor(try text("report:\n", setting))
        _ = try vendor.adapter(settings: Array("{\"site\":\"\(Self.uuid)\"}".utf8))
        let error = #expect(throws: SettingsError.self) {
            _ = try vendor.adapter(settings: Array("{\"site\":\"\(Self.uuid.uppercased())\"}".utf8))
        }
        #expect(error?.message.hasPrefix("must be a UUID in lower case") == true)
    }

    @Test(arguments: [
        ("room: { type: object,", "room: { type: object, of: [a],", "vouched.room.of is for type text or texts"),
        ("room: { type: object,", "room: { type: object, form: uuid,", "vouched.room.form is for type text"),
        (nick, "\(nick) of: [],", "vouched.nick.of must be a list of words"),
        (nick, "\(nick) of: [a], form: uuid,", "vouched.nick has both of and form"),
        (nick, "\(nick) form: uid,", "did you mean uuid?"),
        (
            "report:\n", "settings:\n  n: { type: integer, form: uuid, about: a }\nreport:\n",
            "settings.n.form is for type text"
        ),
        (
            "report:\n", "settings:\n  n: { type: text, form: uuid, default: A, about: a }\nreport:\n",
            "settings.n.default is not a UUID in lower case"
        ),
    ])
    func `mistakes with words and forms are named`(
        _ passage: String, _ replacement: String, _ message: String
    ) throws {
        let found = DeclaredVendor.load(try text(passage, replacement), file: "v.yaml").diagnostics
        #expect(found.contains { $0.severity == .error && $0.message.contains(message) }, "\(found)")
    }

    @Test func `the page names the words and the form`() throws {
        let words = DocsPage(try Places.vendor(try text(Self.nick, "\(Self.nick) of: [agent, visitor],")).description)
        #expect(words.text.contains("| `nick` | text, one of agent, visitor | no |"))
        let form = DocsPage(try Places.vendor(try text(Self.nick, "\(Self.nick) form: uuid,")).description)
        #expect(form.text.contains("| `nick` | text, a UUID in lower case | no |"))
    }
}
