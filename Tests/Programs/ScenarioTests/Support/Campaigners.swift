import Foundation
import Kafka
import ProgramTestSupport
import Testing

/// The users of one app in a campaign: they get tokens, and some of them come back with theirs.
struct Campaigners: Sendable {
    let app: String
    /// A report of a token that expired.
    let expired: @Sendable (_ user: String) -> String
    /// A report of a token that the vendor refused; nil where devices do not name it.
    let refused: (@Sendable (_ user: String, _ token: String) -> String)?

    /// RS256.
    static let braze = Campaigners(
        app: "braze-ios", expired: { #"{"code":22,"userId":"\#($0)"}"# },
        refused: { #"{"code":23,"userId":"\#($0)","signature":"\#($1)"}"# })

    /// HS256, for as many users as a small fleet has.
    static let infobip = Campaigners(
        app: "infobip-mobile", expired: { #"{"code":"JWT_TOKEN_EXPIRED","externalUserId":"\#($0)"}"# },
        refused: nil)

    /// Gives tokens of the signing version to `count` users, `u0` and on.
    func issue(_ count: Int, _ shop: borrowing Shop, prefix: String = "u") async throws {
        for first in stride(from: 0, to: count, by: 1000) {
            let users = first..<min(count, first + 1000)
            try await shop.produce(users.map { rawReport(app, expired("\(prefix)\($0)")) })
        }
        let wanted = "\(app)/\(prefix)"
        var users: Set<[UInt8]> = []
        try await shop.follow(of: ["remint.tokens"]) { record in
            if let key = record.key, key.starts(with: wanted.utf8) { users.insert(key) }
            return users.count >= count
        }
    }

    /// The users of `tokens` come back with them.
    func refuse(_ tokens: some Sequence<ConsumedRecord>, _ shop: borrowing Shop) async throws {
        guard let refused else {
            Issue.record("devices of \(app) do not name the refused token")
            return
        }
        try await shop.produce(
            tokens.compactMap { token in
                guard let jwt = token.member("token"), let key = token.key else { return nil }
                let user = String(decoding: key, as: UTF8.self).dropFirst(app.count + 1)
                return rawReport(app, refused(String(user), jwt))
            })
    }
}

extension Shop {
    func tokens() async throws -> [ConsumedRecord] {
        try await outputs().filter { $0.position.topic == "remint.tokens" }
    }

    func waitForLetters(_ count: Int) async throws {
        _ = try await consumeOutputs(of: ["remint.dead-letters"]) { $0.count >= count }
    }

    /// Reads `topics` from their beginnings, one record at a time, until `isEnough`.
    func follow(of topics: [String], until isEnough: (ConsumedRecord) -> Bool) async throws {
        let consumer = try reader(of: topics)
        var isDone = false
        while !isDone {
            try Task.checkCancellation()
            for event in await consumer.events(limit: 1000, within: .seconds(1)) {
                switch event {
                case .record(let record): isDone = isEnough(record) || isDone
                case .error(let error): if error.isFatal { throw error }
                case .rebalance, .endOfPartition: break
                }
            }
        }
        await consumer.close(within: .seconds(5))
    }
}

extension Operator {
    /// Live tokens of `version` by `remint ledger`.
    func ledger(of version: String) async throws -> Int {
        let program = try await remint(["ledger", "--key-id", version, "--app", ring, "--json"], brokers: true)
        try #require(program.status == 0, "\(program.errorText)")
        return try program.outputText.split(separator: "\n").reduce(0) { sum, line in
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return sum + (object?["live"] as? Int ?? 0)
        }
    }

    /// Pauses, resumes … the app that has the ring's name.
    func apps(_ word: String) async throws {
        let program = try await remint(["apps", word, ring], brokers: true)
        try #require(program.status == 0, "\(program.errorText)")
    }
}
