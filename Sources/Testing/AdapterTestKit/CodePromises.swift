import AdapterKit

/// The promises of `Adapter.codes`: the table that people read agrees with the adapter's readings.
struct CodePromises {
    private let codes: [VendorCode]

    /// The promises of `codes`. An empty table promises nothing: the vendor's file has its own.
    init(_ codes: [VendorCode]) { self.codes = codes }

    /// Returns the broken promises, a line each.
    ///
    /// - Parameter readings: the readings of the recorded reports, by the fixture's name.
    func violations(_ readings: [(name: String, reading: Reading)]) -> [String] {
        guard !codes.isEmpty else { return [] }
        var violations = duplicates()
        var seen: Set<String> = []
        for (name, reading) in readings {
            guard case .failure(let failure) = reading else { continue }
            seen.insert(failure.reason)
            violations += rows(missingFor: failure).map { "\(name): \($0)" }
        }
        let unseen = Set(codes.map(\.reason)).subtracting(seen).sorted()
        return violations + unseen.map { "codes has \($0), which no recorded report has" }
    }

    /// Names each response to `failure` that no row has. A failure without a user has the response of its user, not of
    /// its code.
    private func rows(missingFor failure: AuthenticationFailure) -> [String] {
        guard failure.subject != nil else { return [] }
        let remedies = TokenSigner.allCases.map(failure.remedy(signedBy:))
        return remedies.filter { remedy in
            !codes.contains {
                $0.reason == failure.reason && $0.remedy == remedy && $0.evidence == failure.evidence
            }
        }.map { "codes has no row for \(failure.reason) with the remedy \($0.name)" }
    }

    /// Names each code that has several rows without a condition of their own.
    private func duplicates() -> [String] {
        Dictionary(grouping: codes, by: \.reason).filter { _, rows in
            let conditions = Set(rows.map(\.condition))
            return rows.count > 1 && (conditions.count < rows.count || conditions.contains(""))
        }.keys.sorted().map { "codes has several rows for \($0), and a condition is missing or repeated" }
    }
}
