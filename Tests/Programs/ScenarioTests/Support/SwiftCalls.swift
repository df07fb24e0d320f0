import Foundation
import RemintClient
import Synchronization

/// Many calls of many users through `RemintClient`. Every second user reports, the others ask for a token.
struct SwiftCalls: Sendable {
    /// The outcome of the calls.
    struct Outcome: Codable, Equatable {
        var calls: Int
        var answered: Int
        /// The streams that got the token of a later report.
        var streamed: Int
        /// The tokens that a stream returned after a newer one.
        var older: Int
    }

    let gateway: URL
    let app: String
    /// The sessions of the users `u-0`, `u-1` and so on.
    let sessions: [String]
    var width = 40
    var streams = 10

    private func client(_ user: Int) -> RemintClient {
        let session = sessions[user]
        return RemintClient(url: gateway, app: app, device: UUID().uuidString) { session }
    }

    private func report(_ user: Int, by client: RemintClient) async throws -> Answer {
        try await client.report(["errorCode": 22, "userId": "u-\(user)"])
    }

    /// Makes the calls, `width` at a time, while streams are open. Then reports for each user with a stream, and waits until the
    /// stream returns a token that is as new.
    func run() async throws -> Outcome {
        var outcome = Outcome(calls: sessions.count, answered: 0, streamed: 0, older: 0)
        // Each stream is opened before the calls and read after them.
        let watching = (0..<streams).map { user in
            let client = client(user)
            return (user, client, client.tokens())
        }
        outcome.answered = try await answerAll()
        for (user, client, tokens) in watching {
            let other = self.client(user)
            let version = try await report(user, by: other).version
            await other.close()
            var last: Int64 = 0
            for try await answer in tokens {
                outcome.older += answer.version < last ? 1 : 0
                last = answer.version
                if last >= version { break }
            }
            outcome.streamed += last >= version ? 1 : 0
            await client.close()
        }
        return outcome
    }

    private func answerAll() async throws -> Int {
        let next = Mutex(0)
        let take: @Sendable () -> Int? = {
            next.withLock { number in
                defer { number += 1 }
                return number < sessions.count ? number : nil
            }
        }
        return try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<width {
                group.addTask {
                    var answered = 0
                    while let user = take() {
                        let client = client(user)
                        let answer = try await user % 2 == 0 ? report(user, by: client) : client.token()
                        answered += answer.token.split(separator: ".").count == 3 ? 1 : 0
                        await client.close()
                    }
                    return answered
                }
            }
            return try await group.reduce(0, +)
        }
    }
}
