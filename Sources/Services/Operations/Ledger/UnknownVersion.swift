import AdapterKit

/// A version that no ring lists and that no token of the ledger names: its id was misspelled, or it belongs to another
/// configuration.
package struct UnknownVersion: Error, CustomStringConvertible {
    package let description: String

    /// The refusal of the version `id`; nil where a ring lists it, or where `holdings`, which cover the whole ledger,
    /// have tokens of it, expired ones included.
    package init?(_ id: String, in holdings: LedgerHoldings, isListed: Bool) {
        guard !isListed, !holdings.list.contains(where: { $0.keyID.hasSameBytes(as: id) }) else { return nil }
        let counts = Dictionary(holdings.list.filter { $0.live > 0 }.map { ($0.keyID, $0.live) }, uniquingKeysWith: +)
        let known = counts.sorted { $0.key < $1.key }.prefix(20).map {
            "\(VersionHoldings.shown($0.key)) (\($0.value))"
        }
        let held = known.isEmpty ? "none at all" : "those of \(known.joined(separator: ", "))"
        description =
            "the ledger holds no live token of a version \(VersionHoldings.shown(id)), which no ring lists either; it holds \(held)"
    }
}
