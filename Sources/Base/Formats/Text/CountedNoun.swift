extension BinaryInteger {
    /// Returns the number with its noun, such as `1 user` or `20 users`.
    ///
    /// - Parameters:
    ///   - one: the noun for 1, such as `user` or `token lives`.
    ///   - many: the noun for any other number; nil for `one` with an s.
    package func of(_ one: String, _ many: String? = nil) -> String {
        "\(self) \(self == 1 ? one : many ?? one + "s")"
    }
}
