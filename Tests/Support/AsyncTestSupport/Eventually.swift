import Testing

/// Waits until `condition` holds, however long that takes up to the limit of all tests: five minutes, for a machine
/// whose cores are busy elsewhere. What hangs is caught all the same.
package func eventually(
    _ what: String, within limit: Duration = .seconds(300), _ condition: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + limit
    while !(try await condition()) {
        guard .now < end else {
            Issue.record("\(what) did not happen within \(limit)")
            throw CancellationError()
        }
        try await Task.sleep(for: .milliseconds(20))
    }
}
