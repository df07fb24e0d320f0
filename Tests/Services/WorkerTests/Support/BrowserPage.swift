import AdapterKit
import Foundation

/// A tab of a browser.
struct BrowserPage: Sendable {
    let browser: Browser
    private let target: String
    private let session: String

    /// Opens an empty page of a width in pixels, for a reader who likes it dark or not.
    init(in browser: Browser, width: Int = 1280, isDark: Bool = false) async throws {
        self.browser = browser
        target = try await browser.call("Target.createTarget", #"{"url":"about:blank"}"#)["targetId"]?.string ?? ""
        let attached = try await browser.call("Target.attachToTarget", #"{"targetId":"\#(target)","flatten":true}"#)
        session = attached["sessionId"]?.string ?? ""
        for domain in ["Page", "Runtime", "Network", "Log"] { try await call("\(domain).enable") }
        try await call(
            "Emulation.setDeviceMetricsOverride",
            #"{"width":\#(width),"height":800,"deviceScaleFactor":1,"mobile":false}"#)
        try await call(
            "Emulation.setEmulatedMedia",
            #"{"features":[{"name":"prefers-color-scheme","value":"\#(isDark ? "dark" : "light")"}]}"#)
    }

    private func call(_ method: String, _ parameters: String = "{}") async throws {
        try await browser.call(method, parameters, session: session)
    }

    /// Returns a picture of the whole page, as PNG, no higher than `limit` pixels. Of 16,000 Chromium makes none without a graphics
    /// card, and does not answer.
    func picture(limit: Int = 8_000) async throws -> Data {
        let size = try JSONDocument(
            parsing: Array(try await text("JSON.stringify([innerWidth, document.documentElement.scrollHeight])").utf8)
        ).root.elements.compactMap(\.integer)
        let clip = #"{"x":0,"y":0,"width":\#(size[0]),"height":\#(min(Int64(limit), size[1])),"scale":1}"#
        let answer = try await browser.call(
            "Page.captureScreenshot", #"{"format":"png","captureBeyondViewport":true,"clip":\#(clip)}"#,
            session: session)
        return Data(base64Encoded: answer["data"]?.string ?? "") ?? Data()
    }

    /// Goes to `url`.
    func open(_ url: String) async throws { try await call("Page.navigate", #"{"url":"\#(url)"}"#) }

    /// Is shown, and whichever page was hides.
    func show() async throws { try await browser.call("Target.activateTarget", #"{"targetId":"\#(target)"}"#) }

    /// Returns the value of `expression`, once it is settled: a string.
    func text(_ expression: String) async throws -> String {
        var parameters = JSONWriter()
        parameters.beginObject()
        parameters.member(
            "expression", "Promise.resolve(\(expression)).then(String, error => `failed: ${error.message}`)")
        parameters.name("awaitPromise")
        parameters.bool(true)
        parameters.name("returnByValue")
        parameters.bool(true)
        parameters.endObject()
        let result = try await browser.call(
            "Runtime.evaluate", String(decoding: parameters.bytes, as: UTF8.self), session: session)
        guard let text = result["result"]?["value"]?.string else {
            throw Browser.Failure(description: String(decoding: result.json, as: UTF8.self))
        }
        return text
    }

    /// Lets so much time pass in the page, in a moment, and stops its clock then. Answers it waits for take none of it.
    func pass(_ time: Duration) async throws {
        let expired = "Emulation.virtualTimeBudgetExpired"
        let count = browser.events(expired).count
        try await call(
            "Emulation.setVirtualTimePolicy",
            #"{"policy":"pauseIfNetworkFetchesPending","budget":\#(time.components.seconds * 1000)}"#)
        try await browser.wait(for: expired, count: count + 1)
    }

    /// The addresses that pages of the browser asked so far.
    var requests: [String] {
        browser.events("Network.requestWillBeSent").compactMap { $0.parameters?["request"]?["url"]?.string }
    }

    /// The pages' console messages, with errors and violations of their policies.
    var complaints: [String] {
        ["Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"].flatMap(browser.events).map {
            "\($0.method) \(String(decoding: $0.parameters?.json ?? [], as: UTF8.self))"
        }
    }
}
