import Testing

/// Waits until `condition` holds, with 20 ms between two looks.
///
/// The limit is below the five minutes of a test, so that the message names the condition that did not become true.
package func eventually(
    _ what: String, within limit: Duration = .seconds(120), _ condition: () async throws -> Bool
) async throws {
    _ = try await eventualValue(what, within: limit) { try await condition() ? true : nil }
}

/// Waits until `value` is not nil, with 20 ms between two looks, and returns it.
package func eventualValue<Value>(
    _ what: String, within limit: Duration = .seconds(120), _ value: () async throws -> Value?
) async throws -> Value {
    let end = ContinuousClock.now + limit
    while true {
        if let value = try await value() { return value }
        guard .now < end else {
            Issue.record("\(what) did not happen within \(limit)")
            throw CancellationError()
        }
        // The pause between two looks of all tests.
        try await Task.sleep(for: .milliseconds(20))
    }
}
