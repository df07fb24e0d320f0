import AdapterKit
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
@Suite(.timeLimit(.minutes(5))) struct StatusPageTests {
    @Test func `the status page is one document that runs and asks only its own origin`() async throws {
        try await PageStory.idle.serving { address in
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

    @Test func `each code of a dead letter has its place on the page of codes, which runs nothing`() async throws {
        try await PageStory.idle.serving { address in
            let url = try #require(URL(string: "http://\(address)/codes"))
            let (data, response) = try await URLSession.shared.data(from: url)
            let http = try #require(response as? HTTPURLResponse)
            #expect(http.statusCode == 200)
            #expect(
                http.value(forHTTPHeaderField: "content-security-policy")?.contains("script-src 'none'") == true)
            let html = String(decoding: data, as: UTF8.self)
            for code in ErrorCode.allCases {
                #expect(html.contains("<section id=\"\(code.rawValue)\">"), "\(code)")
                #expect(html.contains("remint dead-letters list --code \(code.rawValue)"), "\(code)")
            }
            #expect(html.contains("<code>worker.max_event_bytes</code>") && !html.contains("{codes}"))
        }
    }

    /// Settles once the page shows the apps and the fleet.
    private static let shown = """
        new Promise(done => {
          const look = () => document.querySelectorAll("#t-apps tbody tr").length > 0 && !document.getElementById("fleet").hidden
            ? done("yes") : setTimeout(look, 20);
          look();
        })
        """

    /// A script that returns the visible parts of the page as JSON: its overflow, the elements that reach over the right edge, names
    /// that break into pieces of a few letters, and texts whose contrast is below WCAG's level AA.
    private static let sight = """
        (() => {
          const edge = document.documentElement.clientWidth, all = [...document.querySelectorAll("body *")];
          const visible = all.filter(node => node.getClientRects().length && !node.closest("svg") && !node.closest("thead"));
          const light = text => {
            const parts = text.match(/[\\d.]+/g).map(Number).slice(0, 3).map(n => (n /= 255) <= .04045 ? n / 12.92 : ((n + .055) / 1.055) ** 2.4);
            return .2126 * parts[0] + .7152 * parts[1] + .0722 * parts[2];
          };
          const ground = node => {
            for (; node; node = node.parentElement) {
              const color = getComputedStyle(node).backgroundColor;
              if (!color.startsWith("rgba") || !color.endsWith(", 0)")) return color;
            }
            return "rgb(255, 255, 255)";
          };
          const contrast = node => {
            const [a, b] = [light(getComputedStyle(node).color), light(ground(node))].sort((a, b) => b - a);
            return (a + .05) / (b + .05);
          };
          return JSON.stringify({
            width: innerWidth, overflow: document.scrollingElement.scrollWidth - edge,
            over: visible.filter(node => node.getBoundingClientRect().right > edge + .5).map(node => node.outerHTML.slice(0, 80)),
            narrow: visible.filter(node => node.classList.contains("id") && node.textContent.length > 20 && node.getBoundingClientRect().width < 90)
              .map(node => node.textContent),
            faint: visible.filter(node => node.childElementCount === 0 && node.textContent.trim() && contrast(node) < 4.5)
              .map(node => node.outerHTML.slice(0, 80)),
            cards: getComputedStyle(document.querySelector("#t-apps tbody tr")).display === "grid",
            rows: document.querySelectorAll("#t-apps tbody tr").length, markup: document.querySelectorAll("main img").length,
            unnamed: document.querySelectorAll("table:not(:has(caption)), section:not([aria-labelledby]):not(.tiles section)").length,
            headings: [...document.querySelectorAll("h1, h2, h3")].filter(node => node.getClientRects().length).map(node => node.textContent),
            loaded: [...new Set(performance.getEntriesByType("resource").map(entry => new URL(entry.name).pathname))].sort()
          });
        })()
        """

    @Test(.enabled(if: Browser.name != nil, "needs Chromium (Debian: chromium)"), arguments: PageStory.allCases)
    func `nothing overflows, breaks into letters or is hard to read on the status page, at any width, by day and night`(
        _ story: PageStory
    ) async throws {
        try await story.serving { address in
            try await Browser.run { browser in
                for (width, isDark) in [320, 360, 390, 768, 1280].flatMap({ [($0, false), ($0, true)] }) {
                    let page = try await BrowserPage(in: browser, width: width, isDark: isDark)
                    try await page.open("http://\(address)/")
                    #expect(try await page.text(Self.shown) == "yes")
                    let text = try await page.text(Self.sight)
                    let sight = try JSONDocument(parsing: Array(text.utf8)).root
                    #expect(sight["width"]?.integer == Int64(width))
                    #expect(sight["overflow"]?.integer == 0, "\(width) pixels")
                    for name in ["over", "narrow", "faint"] {
                        #expect(
                            sight[name]?.elements.compactMap(\.string) == [],
                            "\(name) at \(width) pixels, dark: \(isDark)")
                    }
                    #expect(sight["cards"]?.bool == (width < 600))
                    #expect(sight["markup"]?.integer == 0, "text, not markup")
                    #expect(sight["unnamed"]?.integer == 0, "each table has a caption, each section a heading")
                    #expect(sight["loaded"]?.elements.compactMap(\.string) == ["/fleet", "/status"])
                    #expect(page.requests.allSatisfy { $0.hasPrefix("http://\(address)/") || $0 == "data:," })
                    #expect(page.complaints.isEmpty, "\(page.complaints)")
                }
                // What it would be like if it did.
                let page = try await BrowserPage(in: browser)
                try await page.open("http://\(address)/")
                #expect(try await page.text(Self.shown) == "yes")
                #expect(try await page.text("fetch('http://127.0.0.1:9/')").hasPrefix("failed"))
                #expect(page.complaints.contains { $0.contains("Content Security Policy") })
            }
        }
    }

    @Test(.enabled(if: Browser.name != nil, "needs Chromium (Debian: chromium)"))
    func `a thousand apps are folded, can be filtered and shown, and cost little time`() async throws {
        try await PageStory.thousandApps.serving { address in
            try await Browser.run { browser in
                let page = try await BrowserPage(in: browser)
                try await page.open("http://\(address)/")
                #expect(try await page.text(Self.shown) == "yes")
                let rows = "document.querySelectorAll('#t-apps tbody tr').length"
                #expect(try await page.text(rows) == "50")
                let first = try await page.text("document.querySelector('#t-apps tbody tr').textContent")
                #expect(first.contains("tenant-777") && first.contains("<img src=x>"), "the paused app comes first")
                #expect(
                    try await page.text("document.querySelector('#t-apps').textContent").contains("unknown apps"))
                #expect(try await page.text("document.querySelector('#t-apps + button').click()") == "undefined")
                #expect(try await page.text(rows) == "250")
                // The filter looks at all apps, and its time is that of one look. The shortest of many tries counts: the
                // machine may be busy.
                let filter = """
                    (() => {
                      const field = document.getElementById("filter");
                      const time = (text) => {
                        const start = performance.now();
                        field.value = text;
                        field.dispatchEvent(new Event("input"));
                        return performance.now() - start;
                      };
                      const times = Array.from({ length: 50 }, (_, number) => time("tenant-" + (50 + number)));
                      return document.getElementById("shown").textContent + ", " + (Math.min(...times) < 200 ? "quick" : "slow");
                    })()
                    """
                #expect(try await page.text(filter) == "11 of 1,000 apps, quick")
                #expect(try await page.text(rows) == "11")
            }
        }
    }

    @Test(.enabled(if: Browser.name != nil, "needs Chromium (Debian: chromium)"))
    func `the status page shows recent figures, relative times, codes with their meaning, and the fleet`() async throws
    {
        try await PageStory.longNames.serving { address in
            try await Browser.run { browser in
                let page = try await BrowserPage(in: browser)
                try await page.open("http://\(address)/")
                #expect(try await page.text(Self.shown) == "yes")
                func text(_ selector: String) async throws -> String {
                    try await page.text("document.querySelector('\(selector)').textContent")
                }
                #expect(try await text("#state") == "does not work")
                #expect(try await text("#facts").contains("version0.1.0"))
                let findings = try await text("#findings")
                #expect(findings.contains("fix the path or put the file there"))
                #expect(findings.contains("the bulk lane is paused by ann@laptop"))
                #expect(findings.contains("since 90 min ago · ends in 2 h · remint lanes resume bulk · "))
                #expect(try await text("#facts").contains(" UTC"))
                let suspended = try await text("#t-apps tbody tr")
                #expect(suspended.contains("for 5 min, by remint-worker-1: 14 users refuse"), "\(suspended)")
                #expect(suspended.contains("adapter braze, key ring shop_operations"))
                let exact = try await page.text("document.querySelector('#t-apps time').title")
                #expect(
                    exact
                        == "\(Events.now.advanced(bySeconds: -300))".replacing("T", with: " ").replacing(
                            "Z", with: " UTC"))
                #expect(try await text("#t-letters").contains(ErrorCode.notFixableByToken.summary))
                #expect(
                    try await page.text("document.querySelector('#t-letters a').getAttribute('href')").hasPrefix(
                        "/codes#"))
                #expect(try await text("#fleet-facts").contains("workers3"))
                #expect(try await text("#t-fleet-lanes").contains("remint.invalidations.retry.1m: 1,200"))
                #expect(try await text("#empty").contains("Nothing to show for: campaigns, look-ups."))
                // Both charts have an axis with units, and a burst has its height in figures.
                let chart = try await text("#by-second")
                #expect(chart.contains("events/s") && chart.contains("60 s ago") && chart.contains("now"))
                #expect(try await text("#by-minute").contains("events/min"))
                #expect(try await page.text("document.querySelectorAll('#by-second .burst').length") == "1")
                #expect(
                    try await page.text("document.getElementById('by-second').getAttribute('aria-label')").hasPrefix(
                        "Now "))
            }
        }
    }

    /// The pictures of the documentation: `make screenshots`.
    @Test(
        .enabled(if: Browser.name != nil, "needs Chromium (Debian: chromium)"),
        .enabled(
            if: ProcessInfo.processInfo.environment["REMINT_TEST_SCREENSHOTS"] != nil, "set REMINT_TEST_SCREENSHOTS"),
        arguments: PageStory.allCases)
    func `pictures of the status page are made at four widths, by day and night`(_ story: PageStory) async throws {
        let folder = try #require(ProcessInfo.processInfo.environment["REMINT_TEST_SCREENSHOTS"])
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try await Browser.run { browser in
            for (width, isDark) in [360, 390, 768, 1280].flatMap({ [($0, false), ($0, true)] }) {
                // A server for each, so that all show the same time of the story.
                try await story.serving { address in
                    let page = try await BrowserPage(in: browser, width: width, isDark: isDark)
                    try await page.open("http://\(address)/")
                    #expect(try await page.text(Self.shown) == "yes")
                    let picture = try await page.picture()
                    #expect(picture.starts(with: [0x89] + Array("PNG".utf8)))
                    let name = "\(story.rawValue)-\(width)-\(isDark ? "dark" : "light").png"
                    try picture.write(to: URL(filePath: folder).appending(path: name))
                }
            }
        }
    }

    @Test(.enabled(if: Browser.name != nil, "needs Chromium (Debian: chromium)"))
    func `the status page asks nothing while hidden, and asks at once when it is shown again`() async throws {
        try await PageStory.thousandApps.serving { address in
            try await Browser.run { browser in
                let page = try await BrowserPage(in: browser)
                try await page.open("http://\(address)/")
                #expect(try await page.text(Self.shown) == "yes")
                func asked() -> Int { page.requests.count { $0.hasSuffix("/status") } }
                let first = asked()
                try await page.pass(.seconds(10))
                #expect((4...6).contains(asked() - first), "every two seconds")
                try await BrowserPage(in: browser).show()
                #expect(try await page.text("document.visibilityState") == "hidden")
                let seen = asked(), fleet = page.requests.count { $0.hasSuffix("/fleet") }
                #expect((1...2).contains(fleet), "the fleet every ten seconds")
                try await page.pass(.seconds(60))
                #expect(asked() == seen)
                #expect(page.requests.count { $0.hasSuffix("/fleet") } == fleet)
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
