/// A client of the brokers, which its owner must close.
public protocol KafkaClient: Sendable {
    /// Closes the client. No other call may follow.
    ///
    /// - Returns: False if that took longer than `limit`; then it continues in the background.
    @discardableResult
    func close(within limit: Duration) async -> Bool
}

extension KafkaClient {
    /// Returns the result of `work` with the client, and closes the client whether `work` returns, throws or is canceled.
    ///
    /// - Parameter limit: The longest time for closing. After an error it is a second at most: nobody needs what the client
    ///   still holds, and the brokers may be the error's cause.
    /// - Throws: The error of `work`.
    public func whileOpen<Result, Failure: Error>(
        closingWithin limit: Duration = .seconds(1), _ work: (Self) async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let result: Result
        do throws(Failure) { result = try await work(self) } catch {
            await close(within: min(limit, .seconds(1)))
            throw error
        }
        await close(within: limit)
        return result
    }
}
