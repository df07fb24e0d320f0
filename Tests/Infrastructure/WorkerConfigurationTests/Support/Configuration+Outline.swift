import WorkerConfiguration

extension Configuration {
    /// Everything it holds, for comparisons: without places, which are others in another file, and in an order of its own, for a set's
    /// is another each time.
    var outline: [String] {
        "\(self)".replacing(#/line: \d+, column: \d+|\.yaml:\d+(:\d+)?/#, with: "")
            .split { "[](), ".contains($0) }.map(String.init).sorted()
    }
}
