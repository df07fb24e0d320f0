import WorkerConfiguration

extension Configuration {
    /// Everything it holds, for comparisons: without places, which are others in another file, and in an order of its own, for a set's
    /// is another each time. Nor does it have whether a file states an identity, because the effective configuration states all.
    var outline: [String] {
        "\(self)".replacing(#/line: \d+, column: \d+|\.yaml:\d+(:\d+)?|hasWrittenIdentity: \w+/#, with: "")
            .split { "[](), ".contains($0) }.map(String.init).sorted()
    }
}
