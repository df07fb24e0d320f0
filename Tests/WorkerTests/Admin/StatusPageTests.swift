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

/// Whether this machine has the browser.
private let browser = ["chromium", "chromium-browser", "google-chrome"].first { name in
    (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
        FileManager.default.isExecutableFile(atPath: "\($0)/\(name)")
    }
}

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

    @Test func `is one document that may run and ask nothing but its own`() async throws {
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

    /// A thousand apps, one whose name and reason want to be markup.
    private func thousand() -> WorkerStatus {
        let status = WorkerStatus()
        status.set(name: "w-1")
        status.set(.worker, nil)
        status.set(
            (0..<1000).map { number in
                let suspension = Suspension(
                    app: "", since: Events.now, by: "w-1", why: "<img src=x onerror=alert(1)>", users: 3)
                return .init(
                    name: "app-\(number)", adapter: "dotdigital", keyRing: "push", keyVersion: "k1",
                    suspension: number == 777 ? suspension : nil)
            })
        return status
    }

    @Test(
        .enabled(if: browser != nil, "needs Chromium (Debian: chromium)"),
        arguments: [(360, false), (1280, true)])
    func `shows a thousand apps in a browser, the suspended first`(width: Int, isDark: Bool) async throws {
        let profile = try WorkerTestSupport.TemporaryFolder()
        try await serving(thousand()) { address in
            let chromium = try await Program.run(
                try #require(browser),
                [
                    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                    "--disable-background-networking", "--disable-component-update", "--enable-logging=stderr",
                    "--user-data-dir=\(profile.path)", "--window-size=\(width),800",
                    "--blink-settings=preferredColorScheme=\(isDark ? 0 : 1)", "--virtual-time-budget=5000",
                    "--dump-dom", "http://\(address)/",
                ])
            let document = chromium.outputText
            // Whatever the page writes to the console, violations of its policy among it, is said so.
            #expect(!chromium.errorText.contains("CONSOLE"), "\(chromium.errorText)")
            let apps = try #require(document.firstRange(of: "<table id=\"apps\">")).upperBound
            let rows = document[apps...].matches(of: /<td class=""><span>(app-[0-9]+)<\/span>/).map { $0.1 }
            #expect(rows.count == 1000)
            #expect(rows.first == "app-777")
            #expect(document.contains(">1000 of 1000</span>"))
            #expect(document.contains("&lt;img src=x onerror=alert(1)&gt;"), "text, not markup")
            #expect(document.contains("<p id=\"state\" class=\"mark good\" role=\"status\">ready</p>"))
        }
    }
}
