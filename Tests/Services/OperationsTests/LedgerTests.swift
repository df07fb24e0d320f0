import AdapterKit
import Operations
import Pipeline
import Testing

/// Tests of the ledger: the live tokens by key.
@Suite struct LedgerTests {
    private static let now = UnixTime(seconds: 1000)

    private func holdings(_ table: LedgerTable, _ filter: LedgerFilter = LedgerFilter()) -> [LedgerHolding] {
        var holdings = LedgerHoldings()
        holdings.add(table, matching: filter, at: Self.now)
        return holdings.list
    }

    @Test func `the newest token of a subject counts`() {
        var table = LedgerTable()
        table.take("shop/ann", key: "old", expires: 2000, version: 1, offset: 0)
        table.take("shop/ann", key: "new", expires: 3000, version: 2, offset: 1)
        table.take("shop/ann", key: "late", expires: 4000, version: 1, offset: 2)
        table.take("shop/ben", key: "old", expires: 2500, version: 1, offset: 3)
        #expect(holdings(table).map(\.keyID) == ["new", "old"])
        #expect(holdings(table).map(\.live) == [1, 1])
        #expect(holdings(table).map(\.lastEnd) == [3000, 2500])
        #expect(table.subjectCount == 2)
    }

    @Test func `a token that has expired is not live`() {
        var table = LedgerTable()
        table.take("shop/ann", key: "k", expires: 1000, version: 1, offset: 0)
        table.take("shop/ben", key: "k", expires: 1001, version: 1, offset: 1)
        #expect(holdings(table).map(\.live) == [1])
        #expect(holdings(table).map(\.ended) == [1])
        #expect(holdings(table).map(\.firstEnd) == [1001])
    }

    @Test func `a tombstone removes the token, and an older version may come after it`() {
        var table = LedgerTable()
        table.take("shop/ann", key: "k", expires: 2000, version: 5, offset: 0)
        for offset in 1...2 {
            table.erase("shop/ann", offset: Int64(offset))
        }
        #expect(holdings(table).isEmpty && table.subjectCount == 0)
        table.take("shop/ann", key: "k", expires: 2000, version: 1, offset: 3)
        #expect(holdings(table).map(\.live) == [1] && table.subjectCount == 1)
    }

    @Test func `a record that is no token is counted and left`() {
        var table = LedgerTable()
        table.take(RecordBody(key: Array("x".utf8), value: [], headers: []), offset: 0, at: Self.now)
        table.take(RecordBody(key: nil, value: [], headers: []), offset: 1, at: Self.now)
        #expect(table.strangers == 2)
        #expect(table.subjectCount == 0)
    }

    /// Whoever may write to the topic cannot take a subject out of a rotation, or put one in.
    @Test func `a record that cannot be believed is counted and left`() {
        var table = LedgerTable()
        table.take("shop/ann", key: "k", expires: 2000, version: 1, offset: 0)
        table.take("shop/ann", key: "k", expires: 3000, version: .max, offset: 1)
        table.take("shop/ann", key: "k", expires: 3000, version: .min, offset: 2)
        table.take("shop/ann", key: "k", expires: 3000, version: 2, offset: 3, named: "ben")
        table.take("shop/ann", key: "k", expires: .max, version: 2, offset: 4)
        #expect(holdings(table).map(\.lastEnd) == [2000])
        #expect(table.unreadable == 4 && table.strangers == 0)
    }

    /// A worker encodes whatever would end a line.
    @Test func `a record whose key has a control character is counted and ignored`() {
        var table = LedgerTable()
        table.take("shop/ann\nshop", key: "k", expires: 2000, version: 1, offset: 0, named: #"ann\nshop"#)
        #expect(table.unreadable == 1 && table.subjectCount == 0)
        table.take("shop/ann%0Ashop", key: "k", expires: 2000, version: 1, offset: 1, named: #"ann\nshop"#)
        #expect(table.unreadable == 1 && table.subjectCount == 1)
    }

    @Test func `a filter means app, key and end`() {
        var table = LedgerTable()
        table.take("shop/ann", key: "a", expires: 2000, version: 1, offset: 0)
        table.take("web/ben", key: "a", expires: 3000, version: 1, offset: 1)
        table.take("web/cem", key: "b", expires: 3000, version: 1, offset: 2)
        func count(_ filter: LedgerFilter) -> Int { holdings(table, filter).reduce(0) { $0 + $1.live } }
        #expect(count(LedgerFilter()) == 3)
        #expect(count(LedgerFilter(apps: ["web"])) == 2)
        #expect(count(LedgerFilter(keyID: "a")) == 2)
        #expect(count(LedgerFilter(apps: ["web"], keyID: "a")) == 1)
        #expect(count(LedgerFilter(expiringBefore: 3000)) == 1)
    }

    @Test func `only the record that counts is picked`() {
        var table = LedgerTable()
        table.take("shop/ann", key: "a", expires: 2000, version: 1, offset: 0)
        table.take("shop/ann", key: "a", expires: 2500, version: 2, offset: 7)
        func end(_ offset: Int64, _ filter: LedgerFilter = LedgerFilter(), key: String = "shop/ann") -> Int64? {
            table.end(key: Array(key.utf8), offset: offset, matching: filter, at: Self.now)
        }
        #expect(end(0) == nil)
        #expect(end(7) == 2500)
        #expect(end(7, key: "shop/ben") == nil)
        #expect(end(7, LedgerFilter(keyID: "b")) == nil)
    }

    /// Against a dictionary, through growth, replacements and tombstones.
    @Test func `a table that grows has what a dictionary has`() {
        var table = LedgerTable(subjects: 16)
        var newest: [String: (version: Int64, key: String)] = [:]
        for offset in 0..<20_000 {
            // Spread well enough, and the same each time.
            let number = UInt64(offset) &* 0x9E37_79B9_7F4A_7C15 >> 16
            let subject = "shop/\(number % 3000)", version = Int64(number / 3000 % 50) + 1
            if number % 11 == 0 {
                newest[subject] = nil
                table.erase(subject, offset: Int64(offset))
            } else {
                let key = "k\(number % 7 % 3)"
                if newest[subject].map({ $0.version <= version }) ?? true { newest[subject] = (version, key) }
                table.take(subject, key: key, expires: 2000, version: version, offset: Int64(offset))
            }
        }
        #expect(table.subjectCount == newest.count)
        let counts = Dictionary(grouping: newest.values, by: \.key).mapValues(\.count)
        #expect(Dictionary(uniqueKeysWithValues: holdings(table).map { ($0.keyID, $0.live) }) == counts)
    }

    /// Slices are disjoint, and together they are everything, whatever is in none of them included.
    @Test(arguments: [1, 2, 7]) func `the slices of a ledger together have what one table has`(count: Int) {
        func fill(_ table: inout LedgerTable) {
            table.take(RecordBody(key: nil, value: [], headers: []), offset: 0, at: Self.now)
            for number in 0..<2000 {
                table.take("shop/\(number)", key: "k", expires: 2000, version: 1, offset: Int64(number))
            }
        }
        var whole = LedgerHoldings()
        for slice in LedgerSlice.slices(count) {
            var table = LedgerTable(slice)
            fill(&table)
            #expect(table.subjectCount > 0)
            whole.add(table, matching: LedgerFilter(), at: Self.now)
        }
        #expect(whole.live == 2000 && whole.subjectCount == 2000 && whole.strangers == 1)
    }
}

/// Tokens of a version, whatever apps there are today.
@Suite struct VersionHoldingsTests {
    private static let ring = LedgerRing(
        "shop", among: ["shop", "web", "far"], apps: ["ios": "shop", "moved": "web", "web": "web"],
        versions: ["shop": ["old", "new"], "web": ["2026"]])

    private static let owners: [(String, String, String?, LedgerRing.Owner)] = [
        ("ios", "old", "shop", .this), ("gone", "old", "shop", .this), ("web", "old", "shop", .this),
        ("ios", "2026", "web", .other), ("ios", "old", "web", .unknown), ("ios", "leak", "shop", .unknown),
        ("ios", "any", "far", .other), ("ios", "old", "before", .unknown), ("ios", "old", nil, .this),
        ("gone", "old", nil, .unknown), ("web", "2026", nil, .other), ("moved", "old", nil, .unknown),
    ]

    @Test(arguments: owners.indices) func `a token's ring is the record's, or its app's of today`(_ row: Int) {
        let (app, keyID, ring, owner) = Self.owners[row]
        #expect(Self.ring.owner(of: LedgerLabel(app: app, keyID: keyID, ring: ring)) == owner)
    }

    @Test func `tokens of a ring that gave its name to another folder count against the ring with their version`() {
        var table = LedgerTable()
        table.take("ios/ann", key: "leak", expires: 2000, version: 1, offset: 0, ring: "shop")
        let legacy = LedgerRing(
            "legacy", among: ["shop", "legacy"], apps: ["ios": "shop"],
            versions: ["shop": ["2027"], "legacy": ["leak"]])
        var holdings = LedgerHoldings()
        holdings.add(table, matching: LedgerFilter(keyID: "leak", ring: legacy), at: UnixTime(seconds: 1000))
        let found = VersionHoldings(holdings, version: "leak", of: legacy, apps: ["ios"])
        #expect(found.live == 1 && found.unknownRing == 1 && found.waiting == 1 && !found.isClear)
    }

    @Test func `each kind of token is counted once`() {
        var table = LedgerTable()
        func take(_ key: String, ring: String? = "shop", keyID: String = "old", end: Int64 = 2000) {
            table.take(key, key: keyID, expires: end, version: 1, offset: 0, ring: ring)
        }
        take("ios/ann")
        take("ios/id=1/other=2")
        take("ios/ann/nonce")
        take("gone/ann")
        take("gone/ben", ring: nil)
        take("moved/ann", ring: nil)
        take("web/ann", ring: nil, keyID: "2026")
        take("ios/ben", keyID: "new")
        take("ios/cem", end: 900)
        let torn = [RecordHeader("ce_type", "remint.token.replaced.v1"), RecordHeader("remint-key-id", "old")]
        let now = UnixTime(seconds: 1000)
        table.take(RecordBody(key: Array("ios/torn".utf8), value: [], headers: torn), offset: 1, at: now)
        table.take(RecordBody(key: Array("x".utf8), value: [], headers: []), offset: 2, at: now)
        var holdings = LedgerHoldings()
        holdings.add(table, matching: LedgerFilter(keyID: "old", ring: Self.ring), at: UnixTime(seconds: 1000))
        let found = VersionHoldings(holdings, version: "old", of: Self.ring, apps: ["ios", "moved", "web"])
        #expect(found.askable == 2 && found.challengeBound == 1 && found.orphaned == ["gone": 1])
        #expect(found.unknownRing == 2 && found.waiting == 3 && found.live == 6)
        #expect(found.unreadable == 1 && found.strangers == 1 && !found.isClear)
        #expect(
            found.remedies(reissue: "COMMAND") == [
                "for the tokens that can be re-issued: COMMAND",
                "for those that answer a challenge: wait until they end",
                "for those of apps that are not configured: configure gone again and re-issue them, or wait until they end",
                "for those that name no ring: configure their ring again, or wait until they end",
            ])
        #expect(
            found.reasons
                == "2 can be re-issued; 1 answers a challenge, which only its device can renew; 1 is of the app gone, which is not configured; 2 name no ring of this configuration with that version; 1 record of the token topic cannot be read; 1 record of the token topic is no token"
        )
    }

    @Test func `a version without tokens in a ledger that was read whole is clear`() {
        let found = VersionHoldings(LedgerHoldings(), version: "old", of: Self.ring, apps: [])
        #expect(found.isClear && found.live == 0 && found.reasons == "")
    }
}

/// Tests of the number of times that a partition is read.
@Suite struct LedgerPlanTests {
    @Test(arguments: [(0, 1), (1, 1), (1_000_000, 1), (4_026_531, 1), (4_026_532, 2), (100_000_000, 25)])
    func `a partition is read as often as its subjects fill the table`(records: Int, readings: Int) {
        let slices = LedgerPlan.slices(records: records, memory: LedgerReader.standardMemory)
        #expect(max(1, slices.count) == readings)
    }

    @Test func `a slice's table has room for its share`() {
        #expect(LedgerPlan.room(records: 1000, slices: 1) == 1001)
        #expect(LedgerPlan.room(records: 4_000_000, slices: 4) == 1_051_000)
    }
}

extension LedgerTable {
    /// Takes a token's record. `named` is the user in its value, where that is not the key's.
    mutating func take(
        _ key: String, key keyID: String, expires: Int64, version: Int64, offset: Int64, named: String? = nil,
        ring: String? = nil
    ) {
        let parts = key.split(separator: "/").map(String.init)
        let isNamed = parts.dropFirst().allSatisfy { $0.contains("=") }
        let ids = parts.dropFirst().map { #""\#($0.replacing("=", with: #"":""#))""# }.joined(separator: ",")
        let subject = isNamed ? ids : #""user":"\#(named ?? parts[1])""#
        let challenge = !isNamed && parts.count > 2 ? #","challenge":"\#(parts[2])""# : ""
        let value = """
            {"app":"\(parts[0])","vendor":"v","subject":{\(subject)},"token":"e.e.e",\
            "algorithm":"RS256","key_id":"\(keyID)","issued_at":1,"expires_at":\(expires),"version":\(version),\
            "event_id":"e"\(challenge)}
            """
        let headers =
            [
                RecordHeader("ce_type", "remint.token.replaced.v1"), RecordHeader("ce_source", "/remint/\(parts[0])"),
                RecordHeader("remint-key-id", keyID), RecordHeader("remint-expires-at", String(expires)),
                RecordHeader("remint-version", String(version)),
            ] + (ring.map { [RecordHeader("remint-key-ring", $0)] } ?? [])
        take(
            RecordBody(key: Array(key.utf8), value: Array(value.utf8), headers: headers), offset: offset,
            at: UnixTime(seconds: 1000))
    }

    fileprivate mutating func erase(_ key: String, offset: Int64) {
        take(RecordBody(key: Array(key.utf8), value: nil, headers: []), offset: offset, at: UnixTime(seconds: 1000))
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
    func `a key that is no subject's names nobody`(_ key: String) { #expect(SubjectKey(Array(key.utf8)) == nil) }

    @Test(arguments: ["shop/a\nshop/ben", "shop/%61nn", "shop/a%2fb", "shop/Zoë", "sh\u{0}p/ann", "shop/a=b\n"])
    func `a user in another spelling than a worker's names nobody`(_ key: String) {
        #expect(SubjectKey(Array(key.utf8)) == nil)
        #expect(SubjectKey.refusal(Array(key.utf8)).contains("none that a worker writes"))
    }

    @Test func `a token that answers a challenge is refused as that`() {
        let key = Subject(user: "a\nb", challenge: "n").key(app: "shop")
        #expect(SubjectKey.refusal(key).contains("answers a challenge"))
    }
}
