import AsyncTestSupport
import Foundation
import Kafka
import ProgramTestSupport
import Testing

extension DeviceScenarios {
    /// A vendor that refuses every token costs one token per user, then nothing until the key is another.
    @Suite(.timeLimit(.minutes(5))) struct LoopGuardTests {
        private static let users = (0..<8).map { "user-\($0)" }

        @Test func `a refusing vendor suspends its app, whose events wait for another key`() async throws {
            // No second probe within the test, and none before the key: an operator ends the suspension.
            // All eight users have to refuse, however their reports arrive.
            let shop = try await Shop.open(admission: "suspend_after: 8, suspend_min_age: 1s, suspend_probe: 1h")
            let worker = try await shop.startWorker()
            let admin = try await AdminAPI(of: worker)
            try await refuseAll(shop)
            try #require(await worker.logged("app.suspended"), "\(worker.errorText)")
            #expect(worker.errorText.contains("8 of 8 users refuse tokens of key version"), "\(worker.errorText)")
            // Counted once the letters are committed, after the app is suspended.
            try await admin.wait("remint_outcomes_total", [#"code="rejected_by_vendor""#], atLeast: 8)
            #expect(try await admin.total("remint_outcomes_total", [#"code="rejected_by_vendor""#]) == 8)
            #expect(try await admin.total("remint_signatures_total") == Double(Self.users.count), "one for each user")
            #expect(try await admin.total("remint_app_suspended", [#"app="braze-ios""#]) == 1)
            try await wait(until: "braze-ios", is: "suspended", shop)
            let late = (0..<5).map { "late-\($0)" }
            try await shop.produce(late.map { rawReport("braze-ios", #"{"code":22,"userId":"\#($0)"}"#) })
            try await admin.wait("remint_outcomes_total", [#"code="app_suspended""#], atLeast: Double(late.count))

            // The vendor's side is fixed: a new key is uploaded there and active here. Several users test it.
            let operatorOf = Operator(shop: shop, ring: "braze-ios")
            for step in [
                ["keys", "generate", "--id", "new"], ["rotate", "promote", "--key-version", "new", "--now"],
            ] {
                let made = try await operatorOf.remint(step + ["--key", "braze-ios"])
                try #require(made.status == 0, "\(made.errorText)")
            }
            let probes = try await shop.consumeOutputs { !Self.users(of: "new", in: $0).isEmpty }
            #expect(Self.users(of: "new", in: probes).isSubset(of: late))
            #expect(try await Self.state(of: "braze-ios", shop.configuration) == "suspended")

            let resumed = try await Command.remint(["apps", "resume", "braze-ios", "--config", shop.configuration])
            #expect(resumed.status == 0, "\(resumed.errorText)")
            _ = try await shop.consumeOutputs { Self.users(of: "new", in: $0).isSuperset(of: late) }
            try await wait(until: "braze-ios", is: "active", shop)

            await shop.close(expecting: 0)
        }

        /// Returns the users who got tokens of the key version `version`.
        private static func users(of version: String, in records: [ConsumedRecord]) -> Set<String> {
            Set(records.filter { $0.header("remint-key-id") == version }.compactMap(\.user))
        }

        /// Every user gets a token, and every device comes back at once: the vendor refuses what it was given.
        private func refuseAll(_ shop: borrowing Shop) async throws {
            try await shop.produce(Self.users.map { rawReport("braze-ios", #"{"code":22,"userId":"\#($0)"}"#) })
            let first = try await shop.consumeOutputs { $0.count >= Self.users.count }
            try await shop.produce(
                first.compactMap { token in
                    guard let user = token.user, let signature = token.member("token") else { return nil }
                    return rawReport("braze-ios", #"{"code":23,"userId":"\#(user)","signature":"\#(signature)"}"#)
                })
        }

        /// Waits until the control topic, which a worker writes after it has acted, has the state.
        private func wait(until app: String, is wanted: String, _ shop: borrowing Shop) async throws {
            let configuration = shop.configuration
            try await eventually("\(app) to be \(wanted)", within: .seconds(60)) {
                try await Self.state(of: app, configuration) == wanted
            }
        }

        /// Returns the state of an app from `remint apps`.
        private static func state(of app: String, _ configuration: String) async throws -> String? {
            let apps = try await Command.remint(["apps", "--config", configuration, "--json"])
            try #require(apps.status == 0, "\(apps.errorText)")
            let list = try JSONSerialization.jsonObject(with: apps.standardOutput) as? [[String: Any]]
            return list?.first { $0["app"] as? String == app }?["state"] as? String
        }
    }
}

extension ConsumedRecord {
    /// The user a token is for, or a report is about.
    fileprivate var user: String? {
        guard let object = value.flatMap({ try? JSONSerialization.jsonObject(with: Data($0)) }) as? [String: Any] else {
            return nil
        }
        return (object["subject"] as? [String: Any])?["user"] as? String ?? object["userId"] as? String
    }
}
