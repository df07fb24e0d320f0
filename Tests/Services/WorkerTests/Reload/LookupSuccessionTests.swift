import Testing
import WorkerConfiguration

@testable import Worker

@Suite("Accounts of look-ups over a reload") struct LookupSuccessionTests {
    private func succession(
        _ old: [(String, Int)], _ new: [(String, Int)]
    ) -> (before: [String: String], fixed: Set<String>) {
        let succession = LookupSuccession(
            from: old.map { (name: $0.0, fingerprint: Fingerprint(of: $0.1)) },
            to: new.map { (name: $0.0, fingerprint: Fingerprint(of: $0.1)) })
        return (succession.before, succession.fixed)
    }

    @Test func `an account that is the same goes on`() {
        let (before, fixed) = succession([("a", 1), ("b", 2)], [("a", 1), ("b", 2), ("c", 3)])
        #expect(before == ["a": "a", "b": "b"] && fixed.isEmpty)
    }

    @Test func `an account whose first app went goes on under the next one's name`() {
        let (before, fixed) = succession([("a", 1)], [("b", 1)])
        #expect(before == ["b": "a"] && fixed.isEmpty)
    }

    @Test func `an account whose terms changed goes on, marked as changed`() {
        let (before, fixed) = succession([("a", 1)], [("a", 2)])
        #expect(before == ["a": "a"] && fixed == ["a"])
    }

    /// The first app moved to credentials of its own; the limit stays with who still has the old ones.
    @Test func `an account's limits follow it to its new name, not the account that takes its old name`() {
        let (before, fixed) = succession([("a", 1)], [("a", 2), ("b", 1)])
        #expect(before == ["b": "a"] && fixed.isEmpty)
    }

    /// Minted tokens: every app asks one endpoint without credentials.
    @Test func `accounts that are all the same keep their names`() {
        let (before, _) = succession([("a", 1), ("b", 1), ("c", 1)], [("c", 1), ("b", 1), ("d", 1)])
        #expect(before == ["c": "c", "b": "b", "d": "a"])
    }
}
