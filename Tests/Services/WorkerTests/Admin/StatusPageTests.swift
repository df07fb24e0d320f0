import AsyncTestSupport
import Foundation
import FoundationNetworking
import JOSE
import ProgramTestSupport
import Telemetry
import Testing
import WorkerTestSupport

@testable import Pipeline
@testable import Worker
@testable import WorkerConfiguration

/// The page at `/`.
@Suite(.timeLimit(.minutes(10))) struct StatusPageTests {
    private func serving(_ status: WorkerStatus, _ body: (String) async throws -> Void) async throws {
        let log = RecordingLog()
        let server = AdminServer(
            address: .init(host: "127.0.0.1", port: 0), status: status, metrics: MetricsRegistry(),
            reporter: StatusReporter(status: status), logger: log.logger())
        let running = Task { try await server.run() }
        let address = await log.line("the admin server listens").metadata["remint.admin.address"] ?? ""
        do { try await body(address) } catch {
            running.cancel()
            throw error
        }
        running.cancel()
        _ = await running.result
    }

    @Test func `the status page is one document that runs and asks only its own origin`() async throws {
        try await serving(WorkerStatus()) { address in
            let url = try #require(URL(string: "http://\(address)/"))
            let (data, response) = try await URLSession.shared.data(from: url)
            let http = try #require(response as? HTTPURLResponse)
            #expect(http.statusCode == 200)
            #expect(http.value(forHTTPHeaderField: "content-type") == "text/html; charset=utf-8")
            #expect(http.value(forHTTPHeaderField: "x-content-type-options") == "nosniff")
            #expect(http.value(forHTTPHeaderField: "referrer-policy") == "no-referrer")
            let policy = try #require(http.value(forHTTPHeaderField: "content-security-policy"))
            #expect(
                policy.replacing(/sha256-[A-Za-z0-9+\/]{43}=/, with: "HASH")
                    == [
                        "default-src 'none'", "script-src 'HASH'", "style-src 'HASH'", "connect-src 'self'",
                        "img-src data:", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
                    ].joined(separator: "; "))
            let html = String(decoding: data, as: UTF8.self)
            #expect(html.hasPrefix("<!doctype html>") && html.contains("</html>"))
            // Nothing from elsewhere, and no text that becomes markup.
            for word in [
                "http://", "https://", "src=", "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write",
                "eval(",
            ] {
                #expect(!html.contains(word), "\(word)")
            }
            #expect(html.matches(of: /<script>|<style>/).count == 2)
        }
    }

    /// A thousand apps: one whose reason wants to be markup, one with a name as long and as unbroken as can be.
    private func thousand() -> WorkerStatus {
        let status = WorkerStatus()
        status.set(name: "w-1")
        status.set(.worker, nil)
        status.set(
            (0..<1000).map { number in
                let suspension = Suspension(
                    app: "", since: Events.now, by: "w-1", why: "<img src=x onerror=alert(1)>", users: 3)
                return .init(
                    name: number == 999 ? String(repeating: "x", count: 200) : "app-\(number)", adapter: "dotdigital",
                    keyRing: "push", keyVersion: "k1", suspension: number == 777 ? suspension : nil)
            })
        return status
    }

    /// Settles once the page shows as many apps.
    private static func shows(_ apps: Int) -> String {
        """
        new Promise(done => {
          const look = () => document.querySelectorAll("#apps tbody tr").length === \(apps) ? done("yes") : setTimeout(look, 20);
          look();
        })
        """
    }

    /// A script that returns the visible parts of the page as JSON.
    private static let sight = """
        JSON.stringify({
          overflow: document.scrollingElement.scrollWidth - document.documentElement.clientWidth, width: innerWidth,
          ground: getComputedStyle(document.body).backgroundColor, state: document.getElementById("state").outerHTML,
          first: document.querySelector("#apps tbody tr").textContent, shown: document.getElementById("shown").textContent,
          markup: document.querySelectorAll("main img").length,
          loaded: performance.getEntriesByType("resource").map(entry => entry.name)
        })
        """

    @Test(.enabled(if: Browser.name != nil, "needs Chromium (Debian: chromium)"))
    func `the status page shows a thousand apps on phones and screens, by day and night, from one origin`() async throws
    {
        try await serving(thousand()) { address in
            try await Browser.run { browser in
                for (width, isDark) in [(360, false), (360, true), (1280, false), (1280, true)] {
                    let page = try await BrowserPage(in: browser, width: width, isDark: isDark)
                    try await page.open("http://\(address)/")
                    #expect(try await page.text(Self.shows(1000)) == "yes")
                    let text = try await page.text(Self.sight)
                    let sight = try JSONDocument(parsing: Array(text.utf8)).root
                    #expect(sight["width"]?.integer == Int64(width))
                    #expect(sight["overflow"]?.integer == 0, "\(width) pixels: \(text)")
                    #expect(sight["ground"]?.string == (isDark ? "rgb(14, 17, 22)" : "rgb(255, 255, 255)"))
                    #expect(
                        sight["state"]?.string == #"<p id="state" class="mark good" role="status">ready</p>"#)
                    #expect(sight["shown"]?.string == "1000 of 1000")
                    let first = try #require(sight["first"]?.string)
                    #expect(first.hasPrefix("app-777") && first.contains("<img src=x onerror=alert(1)>"), "\(first)")
                    #expect(sight["markup"]?.integer == 0, "text, not markup")
                    #expect(sight["loaded"]?.elements.allSatisfy { $0.string == "http://\(address)/status" } == true)
                    #expect(page.requests.allSatisfy { $0.hasPrefix("http://\(address)/") || $0 == "data:," })
                    #expect(page.complaints.isEmpty, "\(page.complaints)")
                }
                // What it would be like if it did.
                let page = try await BrowserPage(in: browser)
                try await page.open("http://\(address)/")
                #expect(try await page.text(Self.shows(1000)) == "yes")
                #expect(try await page.text("fetch('http://127.0.0.1:9/')").hasPrefix("failed"))
                #expect(page.complaints.contains { $0.contains("Content Security Policy") })
            }
        }
    }

    @Test(.enabled(if: Browser.name != nil, "needs Chromium (Debian: chromium)"))
    func `the status page asks nothing while hidden, and asks at once when it is shown again`() async throws {
        try await serving(thousand()) { address in
            try await Browser.run { browser in
                let page = try await BrowserPage(in: browser)
                try await page.open("http://\(address)/")
                #expect(try await page.text(Self.shows(1000)) == "yes")
                func asked() -> Int { page.requests.count { $0.hasSuffix("/status") } }
                let first = asked()
                try await page.pass(.seconds(10))
                #expect((4...6).contains(asked() - first), "every two seconds")
                try await BrowserPage(in: browser).show()
                #expect(try await page.text("document.visibilityState") == "hidden")
                let seen = asked()
                try await page.pass(.seconds(60))
                #expect(asked() == seen)
                // Its clock stands still now: no timer could ask.
                let requests = page.requests.count
                try await page.show()
                try await browser.wait(for: "Network.requestWillBeSent", count: requests + 1)
                #expect(asked() == seen + 1)
                try await page.pass(.seconds(10))
                #expect((5...7).contains(asked() - seen), "and no more often than before")
            }
        }
    }
}
