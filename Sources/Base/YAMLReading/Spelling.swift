/// Finds the known word that a misspelled one stands for.
package enum Spelling {
    /// Returns the word of `known` that is nearest to `word`, where one is near enough; otherwise the one word that `word`
    /// begins, such as `warning` for `warn`.
    package static func nearest(to word: String, among known: [String]) -> String? {
        let ranked = known.map { (name: $0, distance: distance(word, $0)) }.min { $0.distance < $1.distance }
        if let ranked, ranked.distance <= max(2, word.count / 3) { return ranked.name }
        let longer = known.filter { $0.hasPrefix(word) }
        return word.count >= shortestBeginning && longer.count == 1 ? longer[0] : nil
    }

    private static let shortestBeginning = 3

    /// Levenshtein's distance.
    private static func distance(_ left: String, _ right: String) -> Int {
        let left = Array(left), right = Array(right)
        var row = Array(0...right.count)
        for (i, a) in left.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, b) in right.enumerated() {
                let substitution = diagonal + (a == b ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(substitution, row[j] + 1, diagonal + 1)
            }
        }
        return row[right.count]
    }
}
