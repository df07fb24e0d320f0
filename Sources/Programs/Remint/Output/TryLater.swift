import ArgumentParser

/// Returns the result of `body`.
///
/// - Throws: `ExitCode` 75 where `body` fails, after a line that names `what` and the reason.
func orTryLater<Value>(_ what: String, _ body: () async throws -> Value) async throws -> Value {
    do { return try await body() } catch {
        Terminal.error("remint: \(what): \(error)")
        throw ExitCode(75)
    }
}
