import AdapterKit
import Operations
import Pipeline
import Testing

/// Who holds a live token of which key.
@Suite struct LedgerTests {
    private static let now = UnixTime(seconds: 1000)

    @Test func `the newest token of a subject counts`() {
        var ledger = Ledger()
        ledger.take("shop/ann", key: "old", expires: 2000, version: 1, offset: 0)
        ledger.take("shop/ann", key: "new", expires: 3000, version: 2, offset: 1)
        ledger.take("shop/ann", key: "late", expires: 4000, version: 1, offset: 2)
        ledger.take("shop/ben", key: "old", expires: 2500, version: 1, offset: 3)
        let holdings = ledger.holdings(at: Self.now)
        #expect(holdings.map(\.keyID) == ["new", "old"])
        #expect(holdings.map(\.live) == [1, 1])
        #expect(holdings.map(\.lastEnd) == [3000, 2500])
        #expect(ledger.subjectCount == 2)
    }

    @Test func `what has ended does not live`() {
        var ledger = Ledger()
        ledger.take("shop/ann", key: "k", expires: 1000, version: 1, offset: 0)
        ledger.take("shop/ben", key: "k", expires: 1001, version: 1, offset: 1)
        let holding = ledger.holdings(at: Self.now)
        #expect(holding.map(\.live) == [1])
        #expect(holding.map(\.ended) == [1])
        #expect(holding.map(\.firstEnd) == [1001])
    }

    @Test func `a tombstone takes the token away`() {
        var ledger = Ledger()
        ledger.take("shop/ann", key: "k", expires: 2000, version: 1, offset: 0)
        ledger.take(
            key: Array("shop/ann".utf8), headers: [], isTombstone: true, partition: 0, offset: 1)
        #expect(ledger.holdings(at: Self.now).isEmpty)
    }

    @Test func `a record that is no token is counted and left`() {
        var ledger = Ledger()
        ledger.take(key: Array("x".utf8), headers: [], isTombstone: false, partition: 0, offset: 0)
        ledger.take(key: nil, headers: [], isTombstone: false, partition: 0, offset: 1)
        #expect(ledger.strangers == 2)
        #expect(ledger.subjectCount == 0)
    }

    @Test func `a filter means app, key and end`() {
        var ledger = Ledger()
        ledger.take("shop/ann", key: "a", expires: 2000, version: 1, offset: 0)
        ledger.take("web/ben", key: "a", expires: 3000, version: 1, offset: 1)
        ledger.take("web/cem", key: "b", expires: 3000, version: 1, offset: 2)
        func count(_ filter: LedgerFilter) -> Int {
            ledger.holdings(at: Self.now, matching: filter).reduce(0) { $0 + $1.live }
        }
        #expect(count(LedgerFilter()) == 3)
        #expect(count(LedgerFilter(apps: ["web"])) == 2)
        #expect(count(LedgerFilter(keyID: "a")) == 2)
        #expect(count(LedgerFilter(apps: ["web"], keyID: "a")) == 1)
        #expect(count(LedgerFilter(expiringBefore: 3000)) == 1)
    }

    @Test func `only the record that counts is picked`() {
        var ledger = Ledger()
        ledger.take("shop/ann", key: "a", expires: 2000, version: 1, offset: 0)
        ledger.take("shop/ann", key: "a", expires: 2500, version: 2, offset: 7)
        func end(_ offset: Int64, _ filter: LedgerFilter = LedgerFilter(), partition: Int32 = 0) -> Int64? {
            ledger.end(
                key: Array("shop/ann".utf8), partition: partition, offset: offset, matching: filter, at: Self.now)
        }
        #expect(end(0) == nil)
        #expect(end(7) == 2500)
        #expect(end(7, partition: 1) == nil)
        #expect(end(7, LedgerFilter(keyID: "b")) == nil)
    }
}

extension Ledger {
    fileprivate mutating func take(_ key: String, key keyID: String, expires: Int64, version: Int64, offset: Int64) {
        let app = key.prefix { $0 != "/" }
        let headers = [
            RecordHeader("ce_source", "/remint/\(app)"), RecordHeader("remint-key-id", keyID),
            RecordHeader("remint-expires-at", String(expires)), RecordHeader("remint-version", String(version)),
        ]
        take(key: Array(key.utf8), headers: headers, isTombstone: false, partition: 0, offset: offset)
    }
}

/// A subject key names the user a batch job asks for.
@Suite struct SubjectKeyTests {
    @Test(arguments: ["ann", "a/b", "a=b", "50 %", "Zoë", "x+y@example.com", "\u{1}"])
    func `a user is read back from the key`(_ user: String) throws {
        let key = try #require(SubjectKey(Subject(user: user).key(app: "my shop")))
        #expect(key.app == "my shop")
        #expect(try JSONDocument(parsing: key.user).root.string == user)
    }

    @Test func `named ids are read back as an object`() throws {
        let subject = Subject(identifiers: [
            .init(name: "registered", value: "ann@x=y"), .init(name: "a/b", value: "1"),
        ])
        let key = try #require(SubjectKey(subject.key(app: "web")))
        let root = try JSONDocument(parsing: key.user).root
        #expect(root["registered"]?.string == "ann@x=y")
        #expect(root["a/b"]?.string == "1")
    }

    @Test(arguments: ["", "shop", "shop/", "shop/ann/nonce", "shop/%4", "shop/%ff", "/ann"])
    func `anything else names nobody`(_ key: String) { #expect(SubjectKey(Array(key.utf8)) == nil) }
}
