package import AdapterTestKit

extension ReportFixture {
    /// Whether the fixture names where its shape was seen: a repository and what in it, or a page.
    package var namesSource: Bool {
        guard let colon = origin.firstIndex(of: ":") else { return false }
        return origin[..<colon].contains("/")
    }
}
