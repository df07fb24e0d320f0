import AdapterKit
import Foundation
import JOSE
import Kafka
import ProgramTestSupport
import StubServer
import Synchronization
import Testing

/// The name of this machine's browser; nil if it has none.
let browser = ["chromium", "chromium-browser", "google-chrome"].first(where: Tool.isInstalled)

extension GatewayScenarios {
    /// A page with every vendor's web SDK faked, in a browser, before a gateway of another origin.
    @Suite(.enabled(if: browser != nil, "needs Chromium (Debian: chromium)"), .timeLimit(.minutes(5)))
    struct PickupPageTests {
        private static let now = UnixTime(microseconds: 0)

        @Test(arguments: [false, true])
        func `every vendor's web SDK is handed its token`(byStream: Bool) async throws {
            let page = Site(
                try Data(contentsOf: Repository.root.appending(path: "Tests/Services/PickupTests/Pages/vendors.html")))
            let site = try await StubServer.start(page, now: { Self.now })
            let shop = try await Shop.open()
            try await shop.startWorker()
            let gateway = try await Gateway.start(
                shop, apps: ["bloomreach-stream": "id: registered"], more: ["origins: ['\(site.url)']"])
            var parameters = [
                "gateway": "http://\(gateway.address)", "session": try gateway.session("u-42"), "user": "u-42",
                "done": "\(site.url)/done", "timeout": "60", "braze": "braze-ios", "onesignal": "onesignal-shop",
                "bloomreach": "bloomreach-stream", "bloomreachweb": "bloomreach-stream",
                "dotdigital": "dotdigital-push", "infobip": "infobip-mobile",
            ]
            if byStream { parameters["stream"] = "1" }
            var url = try #require(URLComponents(string: "\(site.url)/vendors.html"))
            url.queryItems = parameters.map { URLQueryItem(name: $0.key, value: $0.value) }
            let profile = try TemporaryFolder()
            let chromium = try openPage(try #require(url.string), profile: profile.url)
            let result = await page.result()
            chromium.kill()
            await chromium.waitForEnd()
            let root = try JSONDocument(parsing: result).root
            #expect(root["ok"]?.bool == true, "\(String(decoding: result, as: UTF8.self)) \(gateway.program.errorText)")
            await shop.close()
            await site.stop()
        }
    }
}

/// A site with a page, to which the page sends its outcome.
final class Site: VendorStub {
    private let html: [UInt8]?
    private let state = Mutex<(result: [UInt8]?, waiter: CheckedContinuation<[UInt8], Never>?)>((nil, nil))

    init(_ html: Data? = nil) { self.html = html.map { Array($0) } }

    func answer(_ request: StubRequest, at time: UnixTime) -> StubResponse {
        guard request.method == "POST" else {
            guard let html else { return StubResponse(status: 404) }
            return StubResponse(status: 200, headers: [("content-type", "text/html; charset=utf-8")], body: html)
        }
        let waiter = state.withLock { state in
            state.result = state.result ?? request.body
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(returning: request.body)
        return StubResponse(status: 204)
    }

    func result() async -> [UInt8] {
        await withCheckedContinuation { continuation in
            let result = state.withLock { state in
                if state.result == nil { state.waiter = continuation }
                return state.result
            }
            if let result { continuation.resume(returning: result) }
        }
    }
}

/// A browser without a window that opens `url`, with a profile in `folder`.
func openPage(_ url: String, profile folder: URL) throws -> Program {
    try Program(
        try #require(browser),
        [
            "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--user-data-dir=\(folder.path)", "--remote-debugging-port=0", url,
        ])
}
