import AdapterKit
import AdapterTestKit
import AsyncTestSupport
import Foundation
import JOSE
import Kafka
import ProgramTestSupport
import Testing
import Vendors

extension GatewayScenarios {
    /// A device's one call: a report in, a token out, for the session's user and for nobody else.
    @Suite(.timeLimit(.minutes(5))) struct PickupTests {
        private static let vendors = ["Braze", "OneSignal", "Bloomreach", "Dotdigital", "Infobip"]

        @Test func `every recorded report of every vendor that a token answers is answered in one call`() async throws {
            let shop = try await Shop.open()
            try await shop.startWorker()
            let gateway = try await Gateway.start(shop)
            var answered = 0
            for vendor in Self.vendors {
                let fixtures = try AdapterFixtures(
                    directory: Repository.root.appending(path: "adapters/\(vendor)/Fixtures"))
                for fixture in fixtures.reports {
                    guard case .failure(let remedy, _, let subject?, let hasToken) = fixture.expectation,
                        ["mint", "mint_once"].contains(remedy), !hasToken
                    else { continue }
                    let now = UnixTime(microseconds: Int64(Date.now.timeIntervalSince1970 * 1e6))
                    let answer = try await gateway.report(
                        fixture.report(at: now), "\(vendor.lowercased())-\(fixture.app)", vouched: Self.vouched(subject)
                    )
                    #expect(answer.status == 200, "\(vendor)/\(fixture.name): \(answer.text)")
                    guard let token = answer.text("token") else { continue }
                    #expect(Self.names(subject, token), "\(vendor)/\(fixture.name): another user's token")
                    #expect(answer.headers["cache-control"] == "no-store")
                    #expect(answer.body?["apply"]?["call"]?.string?.isEmpty == false)
                    answered += 1
                }
            }
            #expect(answered > 50, "\(answered)")
            #expect(!gateway.program.errorText.contains("eyJ"), "a token in the log")
            await shop.close()
        }

        @Test func `the demonstration's devices get what the vendors' rules accept, over HTTP`() async throws {
            let demo = try await Command.remint(["demo", "--pickup", "--json"])
            #expect(demo.status == 0, "\(demo.outputText)")
            let results = try JSONDocument(parsing: Array(demo.standardOutput)).root.elements
            #expect(results.count { $0["verdict"]?.string == "accepted" } > 100)
            #expect(results.allSatisfy { $0["problem"] == nil })
        }

        @Test func `a session gets its own user's token and nobody else's`() async throws {
            let shop = try await Shop.open()
            try await shop.startWorker()
            let gateway = try await Gateway.start(shop)
            let ann = try gateway.session("ann")
            let fresh = try await gateway.call("/v1/apps/braze-ios/token", session: ann)
            #expect(fresh.status == 200, "\(fresh.text)")
            #expect(Self.names("app/ann", fresh.text("token") ?? ""))
            // The same one again, and a tag that says that it is the same.
            let again = try await gateway.call("/v1/apps/braze-ios/token", session: ann)
            #expect(again.text("token") == fresh.text("token"))
            let tag = try #require(fresh.headers["etag"])
            let unchanged = try await gateway.call(
                "/v1/apps/braze-ios/token", session: ann, headers: ["If-None-Match": tag])
            #expect(unchanged.status == 304)

            let stolen = try await gateway.report(
                Array(#"{"errorCode":22,"userId":"ben"}"#.utf8), "braze-ios", session: ann)
            #expect(stolen.status == 403 && stolen.text("code") == "identity_mismatch", "\(stolen.text)")
            let claimed = try await gateway.call(
                "/v1/apps/braze-ios/token", session: ann, headers: ["Remint-Vouched": #"{"user":"ben"}"#])
            #expect(Self.names("app/ann", claimed.text("token") ?? ""), "a session's word is the session's")
            let unfixable = try await gateway.report(
                Array(#"{"errorCode":25,"userId":"ann"}"#.utf8), "braze-ios", session: ann)
            #expect(unfixable.status == 409 && unfixable.headers["retry-after"] != nil, "\(unfixable.text)")
            await shop.close()
        }

        private static let calls = [
            ("braze-ios", "setSdkAuthenticationSignature(jwt)", false),
            ("onesignal-shop", "OneSignal.updateUserJwt(externalId, token)", true),
            ("bloomreach-stream", "setSdkAuthToken(jwt)", false),
            ("bloomreach-customer", "return it from the authorization provider", false),
            ("infobip-mobile", "return it from getJwt()", false),
        ]

        @Test func `an answer names the SDK's call for the token`() async throws {
            let shop = try await Shop.open()
            try await shop.startWorker()
            let gateway = try await Gateway.start(
                shop,
                apps: ["bloomreach-stream": "id: registered", "bloomreach-customer": "id: registered"])
            for (app, call, hasIdentifier) in Self.calls {
                let answer = try await gateway.call("/v1/apps/\(app)/token", session: try gateway.session("ann"))
                let apply = try #require(answer.body?["apply"], "\(app): \(answer.text)")
                #expect(apply["call"]?.string == call)
                #expect(apply["identifier"]?.string == (hasIdentifier ? "ann" : nil))
            }
            // A challenge's answer has no token without its report.
            let report = Array(#"{"nonce":"13687106-f26d-4afe-a25a-60d58b38c568"}"#.utf8)
            let answer = try await gateway.report(report, "dotdigital-push", session: try gateway.session("ann"))
            #expect(answer.body?["apply"]?["call"]?.string == "authenticateWithToken(jwt)", "\(answer.text)")
            await shop.close()
        }

        @Test func `nobody gets an old token while there is no worker`() async throws {
            let shop = try await Shop.open()
            let gateway = try await Gateway.start(shop)
            let session = try gateway.session("ann")
            let answer = try await gateway.acceptedCall("/v1/apps/braze-ios/token?wait=1", session: session)
            #expect(answer.status == 503 && answer.text("code") == "unanswered", "\(answer.text)")
            #expect(answer.headers["retry-after"] != nil)
            // Whoever does not wait is told where to look.
            let accepted = try await gateway.acceptedCall("/v1/apps/braze-ios/token?wait=0", session: session)
            #expect(accepted.status == 202, "\(accepted.text)")
            #expect(accepted.headers["location"]?.contains("after=") == true)
            await shop.close()
        }

        @Test func `a gateway that does not follow the token topic yet answers with no token`() async throws {
            let shop = try await Shop.open()
            let gateway = try await Gateway.start(shop, brokers: "127.0.0.1:1")
            let session = try gateway.session("ann")
            let calls =
                ["/token", "/token?after=0&wait=1", "/token/stream"].map { ($0, "GET") } + [("/reports", "POST")]
            for (path, method) in calls {
                let answer = try await gateway.call(
                    "/v1/apps/braze-ios\(path)", method: method, session: session,
                    body: method == "POST" ? Array("{}".utf8) : nil)
                #expect(answer.status == 503 && answer.text("code") == "unavailable", "\(path): \(answer.text)")
                #expect(answer.text("detail") == "this gateway does not follow the token topic yet")
                #expect(answer.headers["retry-after"] != nil)
            }
            #expect(try await gateway.call("/health/ready").status == 503)
            await shop.close()
        }

        // MARK: Reading

        /// The adapter's own members for the subject key `app/…`.
        static func vouched(_ subject: String) -> String {
            let parts = subject.split(separator: "/").dropFirst().map { String($0).removingPercentEncoding ?? "" }
            var json = JSONWriter()
            json.beginObject()
            let ids = parts.filter { $0.contains("=") && !$0.contains("==") }
            if ids.isEmpty {
                json.member("user", parts.first ?? "")
            } else {
                json.name("ids")
                json.beginObject()
                for id in ids {
                    let pair = id.split(separator: "=", maxSplits: 1).map(String.init)
                    json.member(pair[0], pair[1])
                }
                json.endObject()
            }
            json.endObject()
            return String(decoding: json.bytes, as: UTF8.self)
        }

        /// Whether the claims of `token` name the user of `subject` somewhere.
        static func names(_ subject: String, _ token: String) -> Bool {
            let parts = token.split(separator: ".")
            guard parts.count == 3, let payload = try? Base64.url.decode(Array(parts[1].utf8)[...]) else {
                return false
            }
            let claims = String(decoding: payload, as: UTF8.self)
            let users = subject.split(separator: "/").dropFirst().map { String($0).removingPercentEncoding ?? "" }
            let user = users.first.map { $0.split(separator: "=", maxSplits: 1).last.map(String.init) ?? "" } ?? ""
            return claims.contains(user.replacing("\"", with: "\\\""))
        }
    }
}
