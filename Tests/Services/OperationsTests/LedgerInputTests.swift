import AdapterKit
import Operations
import Testing
import WorkerConfiguration
import WorkerTestSupport

/// The list of a batch job's subjects, on its way over the disk.
@Suite struct LedgerInputTests {
    private func items(_ keys: [[UInt8]]) throws -> [ReissueJob.Item] {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/subjects"
        try LedgerInput.write(keys, to: path)
        let input = try LedgerInput(path: path, try readConfiguration(workerConfiguration(brokers: "127.0.0.1:9092")))
        var items: [ReissueJob.Item] = []
        while let next = try input.next() { items += next }
        return items
    }

    private func user(_ item: ReissueJob.Item) throws -> String? {
        try JSONDocument(parsing: item.row.user.get()).root.string
    }

    @Test func `every user comes out of the list as they went in, whatever their id is made of`() throws {
        let users =
            (0...0x20).compactMap { UnicodeScalar($0).map { "a\($0)b" } } + [
                "\n", "\r\n", "!616e6e", "\u{7F}", "\u{85}", "\u{2028}", "Zoë", "a/b=c%0A",
            ]
        let items = try items(users.map { Subject(user: $0).key(app: "push") })
        #expect(try items.map(user) == users)
        #expect(items.map(\.row.line) == Array(1...users.count))
        #expect(items.allSatisfy { $0.app?.name == "push" })
    }

    @Test(arguments: ["push/a\npush/eve", "push/a\n", "\npush/eve", "!707573682f657665", "push/\u{0}", ""])
    func `a key that no worker writes is one row of its own, refused`(_ key: String) throws {
        let keys = [Subject(user: "ann").key(app: "push"), Array(key.utf8), Subject(user: "ben").key(app: "push")]
        let items = try items(keys)
        #expect(items.count == 3)
        #expect(try user(items[0]) == "ann")
        #expect(throws: UserRow.BadRow.self) { try items[1].row.user.get() }
        #expect(try user(items[2]) == "ben")
    }
}
