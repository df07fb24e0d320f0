import Foundation
package import JOSE

/// A figure, taken in several rounds: the median, with the lowest and the highest.
package struct Spread {
    private let sorted: [Double]

    package init(_ values: [Double]) { sorted = values.sorted() }

    /// Returns the figures' share of `whole`, round by round.
    package static func ratio(_ part: [Double], of whole: [Double]) -> Spread {
        Spread(zip(part, whole).map { $1 > 0 ? $0 / $1 : 0 })
    }

    package var low: Double { sorted.first ?? 0 }
    package var high: Double { sorted.last ?? 0 }
    package var median: Double {
        guard !sorted.isEmpty else { return 0 }
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }

    /// Returns the median, followed by the other figures where there are any.
    package func text(_ places: Int = 0) -> String {
        func text(_ value: Double) -> String { String(format: "%.\(places)f", value) }
        return sorted.count < 2 ? text(median) : "\(text(median)) (\(text(low))–\(text(high)))"
    }
}

extension JSONWriter {
    /// Writes a member of six significant digits.
    package mutating func member(_ name: String, _ value: Double) {
        self.name(name)
        raw(String(format: "%.6g", value.isFinite ? value : 0))
    }

    /// Writes an object of median, low and high.
    package mutating func member(_ name: String, _ spread: Spread) {
        self.name(name)
        beginObject()
        member("median", spread.median)
        member("low", spread.low)
        member("high", spread.high)
        endObject()
    }
}
