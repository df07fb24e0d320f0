import Keyring
import Testing

/// A `keyring.json` that is refused: the place, and the text of the refusal.
struct BadListing: CustomTestStringConvertible {
    let name: String
    let text: String
    let place: String
    let words: [String]

    /// A listing whose second line is `version`, refused at `column` of it.
    init(_ name: String, version: String, column: Int, _ words: String...) {
        self.name = name
        text = "{\"versions\": [\n\(version)\n]}"
        place = "2:\(column)"
        self.words = words
    }

    init(_ name: String, text: String, place: String, _ words: String...) {
        self.name = name
        self.text = text
        self.place = place
        self.words = words
    }

    var testDescription: String { name }
}

@Suite struct ListingRefusalTests {
    private static let listings: [BadListing] = [
        .init("an array", text: "[]", place: "1:1", "\"versions\""),
        .init("no JSON", text: "{\n  \"versions\": [}", place: "2:16"),
        .init("another member", text: #"{"version": 1, "versions": []}"#, place: "1:13", "\"version\""),
        .init(
            "an empty kid",
            version:
                #"{"id": "a", "kid": "", "state": "active", "algorithm": "HS256", "file": "s", "encoding": "utf8"}"#,
            column: 20, "\"kid\""),
        .init("no versions", text: "\n {}", place: "2:2", "\"versions\""),
        .init("versions that are no array", text: #"{"versions": {}}"#, place: "1:1", "array"),
        .init("no version", text: #"{"versions": []}"#, place: "1:14", "0 active", "exactly one"),
        .init("a version that is no object", version: #"  "a""#, column: 3, "object"),
        .init(
            "an unknown member", version: #"{"id": "a", "stat": "active"}"#, column: 21, "\"stat\"", "known:", "state"),
        .init("no id", version: #"{"state": "active", "algorithm": "HS256"}"#, column: 1, "lacks \"id\""),
        .init("an id that is no string", version: #"{"id": 7}"#, column: 8, "\"id\"", "not a string"),
        .init("an empty id", version: #"{"id": ""}"#, column: 8, "\"id\"", "empty"),
        .init("no state", version: #"{"id": "a"}"#, column: 1, "lacks \"state\""),
        .init(
            "an unknown state", version: #"{"id": "a", "state": "Active"}"#, column: 22, "\"state\"",
            "prepared, active, passive, retired, revoked"),
        .init("no algorithm", version: #"{"id": "a", "state": "active"}"#, column: 1, "lacks \"algorithm\""),
        .init(
            "an unknown algorithm", version: #"{"id": "a", "state": "active", "algorithm": "none"}"#, column: 45,
            "\"algorithm\"",
            "RS256", "HS512"),
        .init(
            "no file", version: #"{"id": "a", "state": "active", "algorithm": "HS256", "encoding": "utf8"}"#, column: 1,
            "lacks \"file\""),
        .init(
            "a time that is no time",
            version: #"{"id": "a", "state": "retired", "algorithm": "HS256", "retire_after": "2026-02-30T00:00:00Z"}"#,
            column: 71,
            "\"retire_after\"", "RFC 3339", "2026-11-01T00:00:00Z"),
        .init(
            "a time that is a number",
            version: #"{"id": "a", "state": "retired", "algorithm": "HS256", "created": 1800000000}"#,
            column: 66, "\"created\"", "not a string"),
        .init(
            "a date without a time",
            version: #"{"id": "a", "state": "retired", "algorithm": "HS256", "activated": "2026-02-01"}"#,
            column: 68, "\"activated\"", "RFC 3339"),
        .init(
            "two versions of one id",
            text: """
                {"versions": [
                  {"id": "a", "state": "retired", "algorithm": "HS256"},
                  {"id": "b", "state": "retired", "algorithm": "HS256"},
                  {"id": "a", "state": "retired", "algorithm": "HS256"}
                ]}
                """, place: "4:3", "share the id \"a\"", "its own"),
        .init(
            "no active version",
            text: """
                {"versions": [
                  {"id": "a", "state": "retired", "algorithm": "HS256"}
                ]}
                """, place: "1:14", "0 active", "exactly one"),
    ]

    @Test(arguments: listings) func `the refusal of a bad listing has the place and the fix`(_ listing: BadListing)
        throws
    {
        let ring = try RingFolder()
        try ring.write(listing.text, to: "keyring.json")
        let error = try ring.refusal()
        #expect(error.file == ring.path("keyring.json"))
        #expect(error.place == listing.place)
        for word in listing.words { #expect(error.message.contains(word), "\(error)") }
        #expect(error.description == "\(error.file):\(listing.place): \(error.message)")
        #expect(!error.message.contains("\n"))
    }

    @Test func `a listing with two active versions is refused`() throws {
        let ring = try RingFolder()
        for file in ["s", "t"] { try ring.write("secret of \(file)", to: file) }
        try ring.list(
            #"{"id": "a", "state": "active", "algorithm": "HS256", "file": "s", "encoding": "utf8"}"#,
            #"{"id": "b", "state": "active", "algorithm": "HS256", "file": "t", "encoding": "utf8"}"#)
        let error = try ring.refusal()
        #expect(error.place == "1:14")
        #expect(error.message.contains("2 active"))
        #expect(error.message.contains("exactly one"))
    }

    @Test func `the refusal of a missing listing names it`() throws {
        let ring = try RingFolder()
        let error = try ring.refusal()
        #expect(error.file == ring.path("keyring.json"))
        #expect(error.message.contains("No such file"))
    }

    @Test func `the refusal names the listing of a folder that is missing or is a file`() throws {
        let ring = try RingFolder()
        try ring.write("", to: "file")
        for name in ["missing", "file"] {
            let error = #expect(throws: KeyRingError.self) {
                try KeyRingDirectory(path: ring.path(name)).load(name: "shop")
            }
            #expect(error?.file == ring.path("\(name)/keyring.json"))
        }
    }

    @Test(arguments: [
        "", " \n", "{", #"{"versions": [}"#, #"{"versions": [],}"#, #"{"versions": [], "versions": []}"#, "\u{FEFF}{}",
    ])
    func `a listing that is not JSON is refused`(_ text: String) throws {
        let ring = try RingFolder()
        try ring.write(text, to: "keyring.json")
        let error = try ring.refusal()
        #expect(error.file == ring.path("keyring.json"))
        #expect(!error.message.isEmpty)
    }

    @Test func `a listing that is larger than any ring is refused`() throws {
        let ring = try RingFolder()
        try ring.write(String(repeating: " ", count: 65_537), to: "keyring.json")
        #expect(try ring.refusal().message.contains("65536"))
    }
}
