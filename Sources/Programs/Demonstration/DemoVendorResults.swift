import AdapterKit
import Pipeline

/// The results of one vendor's reports.
package struct DemoVendorResults {
    /// The vendor's own spelling.
    package let vendor: String
    /// The results in the order of the reports.
    package private(set) var results: [DemoResult]

    /// Returns the results of each vendor, in the order of the first reports.
    package static func all(_ results: [DemoResult]) -> [DemoVendorResults] {
        var vendors: [DemoVendorResults] = []
        for result in results {
            let vendor = result.event.app.registration.vendor
            if let place = vendors.firstIndex(where: { $0.vendor == vendor }) {
                vendors[place].results.append(result)
            } else {
                vendors.append(DemoVendorResults(vendor: vendor, results: [result]))
            }
        }
        return vendors
    }

    /// The number of minted tokens.
    package var minted: Int { results.count { $0.outcome == .minted } }
    /// The number of tokens that the vendor's verifier accepts.
    package var accepted: Int { results.count { $0.verdict == .accepted } }
    /// The number of reports that needed no token.
    package var skipped: Int { results.count { $0.outcome.name == "skipped" } }
    /// The number of dead letters.
    package var deadLetters: Int { results.count - minted - skipped }

    /// One accepted token in words: its algorithm, and the report that it answers; nil without such a token.
    package var example: String? {
        guard let result = results.first(where: { $0.verdict == .accepted }),
            let algorithm = result.record?["algorithm"]?.string
        else { return nil }
        return "\(algorithm) for \(result.event.reported)"
    }
}
