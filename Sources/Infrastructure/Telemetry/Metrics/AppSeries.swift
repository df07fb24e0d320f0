import Synchronization

/// The apps that have series of their own where there are very many apps. The first 500 with a value other than 0 keep
/// their series until the process ends, so that no counter falls; the sum of the others has the value `other` in the
/// label `app`.
final class AppSeries: Sendable {
    static let most = 500
    static let rest = "other"
    /// Events that name no configured app.
    private static let unknown = "unknown"

    private let shown = Mutex<Set<String>>([])

    /// Returns `values` with a sum in place of the series of the other apps; `values` itself if there are few.
    ///
    /// - Parameter labels: the names of the label values.
    func fold<Value>(
        _ values: [[String]: Value], _ labels: [String], isZero: (Value) -> Bool, _ add: (inout Value, Value) -> Void
    ) -> [[String]: Value] {
        guard let place = labels.firstIndex(of: "app"), values.count > Self.most else { return values }
        guard Set(values.keys.map { $0[place] }).count > Self.most else { return values }
        let shown = shown.withLock { shown in
            for (labels, value) in values
            where shown.count < Self.most && labels[place] != Self.unknown && !isZero(value) {
                shown.insert(labels[place])
            }
            return shown
        }
        return values.reduce(into: [:]) { folded, entry in
            var (labels, value) = entry
            if !shown.contains(labels[place]), labels[place] != Self.unknown { labels[place] = Self.rest }
            if let sum = folded[labels] {
                add(&value, sum)
            }
            folded[labels] = value
        }
    }
}
