import Access
import Testing

@Suite("URLs that are compared")
struct ComparableURLTests {
    /// Spellings of `https://id.example/v1/apps/shop/token`.
    static let same = [
        "https://id.example/v1/apps/shop/token", "HTTPS://ID.Example/v1/apps/shop/token",
        "https://id.example:443/v1/apps/shop/token", "https://id.example:/v1/apps/shop/token",
        "https://id.example:0443/v1/apps/shop/token", "https://id.example/v1/apps/shop/token?wait=3",
        "https://id.example/v1/apps/shop/token#x", "https://id.example/v1/apps/shop/token?#x?",
        "https://id.example/v1/./apps/x/../shop/token", "https://id.example/../v1/apps/shop/token",
        "https://id.example/v1/%61pps/sh%6Fp/token", "https://id.example/v1/%2E/apps/shop/token",
        "https://id.exampl%65/v1/apps/shop/token",
    ]

    static let others = [
        "http://id.example/v1/apps/shop/token", "https://id.example:8443/v1/apps/shop/token",
        "https://id.example:80/v1/apps/shop/token", "https://id.example.org/v1/apps/shop/token",
        "https://id.example/V1/apps/shop/token", "https://id.example/v1/apps/shop/token/",
        "https://id.example//v1/apps/shop/token", "https://id.example/v1/apps/shop", "https://id.example",
        "https://id.example/v1/apps/shop%2Ftoken", "https://id.example/v1/apps/shop/token%3F",
        "https://id.example/v1/apps/shop/token/..", "https://id.example./v1/apps/shop/token",
    ]

    static let none = [
        "", "/v1/apps/shop/token", "id.example/v1", "https:/id.example/v1", "https:id.example", "https://",
        "https:///v1",
        "https://:443/v1", "ftp://id.example/v1", "javascript://id.example/v1", "https://u@id.example/v1",
        "https://u:p@id.example/v1", "https://id.example:x/v1", "https://id.example:65536/v1",
        "https://id.example:99999999999999999999/v1", "https://id.example:-1/v1", "https://id.example/%",
        "https://id.example/%4", "https://id.example/%zz", "https://id.example/a b", "https://id.example/é",
        "https://id.example/\u{0}", " https://id.example/", "https://id.example/" + String(repeating: "a", count: 2048),
    ]

    @Test(arguments: same) func `equivalent spellings are one URL`(text: String) {
        #expect(ComparableURL(text) != nil)
        #expect(ComparableURL(text) == ComparableURL(Self.same[0]))
    }

    @Test(arguments: others) func `a URL that only looks alike is a different URL`(text: String) {
        #expect(ComparableURL(text) != nil)
        #expect(ComparableURL(text) != ComparableURL(Self.same[0]))
    }

    @Test(arguments: none) func `a string that is no comparable URL is refused`(text: String) {
        #expect(ComparableURL(text) == nil)
    }

    @Test(arguments: [
        ("https://a", "https://a/"), ("https://a?x", "https://a/"), ("http://a:80", "http://A/"),
        ("https://a/b/..", "https://a/"), ("https://a/b/.", "https://a/b/"),
        ("https://a/%e2%82%ac", "https://a/%E2%82%AC"),
        ("https://[2001:DB8::1]/x", "https://[2001:db8::1]:443/x"), ("https://a/b/../../c", "https://a/c"),
    ])
    func `paths and hosts are brought to one form`(left: String, right: String) {
        #expect(ComparableURL(left) != nil)
        #expect(ComparableURL(left) == ComparableURL(right))
    }
}
