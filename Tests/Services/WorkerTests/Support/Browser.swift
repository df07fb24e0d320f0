import AdapterKit
import Foundation
import ProgramTestSupport
import Synchronization
import WorkerTestSupport

/// Chromium without a window, controlled over its debugging pipe (Chrome DevTools Protocol): JSON texts with a zero
/// byte behind each.
final class Browser: Sendable {
    /// Something that happened in the browser.
    struct Event: Sendable {
        /// Its name, such as `Network.requestWillBeSent`.
        let method: String
        /// The event's parameters.
        let parameters: JSONValue?
    }

    /// The reason for which the browser does not execute a command.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private struct State {
        var isOver = false
        var lastCall = 0
        var calls: [Int: CheckedContinuation<JSONValue, any Error>] = [:]
        var events: [Event] = []
        var watchers: [(method: String, count: Int, waiter: CheckedContinuation<Void, any Error>)] = []
    }

    /// The program's name on this machine; nil if there is none.
    static let name = ["chromium", "chromium-browser", "google-chrome"].first { name in
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/\(name)")
        }
    }

    private let state = Mutex(State())
    private let program: Program
    private let commands: FileHandle

    /// Lets `body` have a browser of its own.
    static func run(_ body: (Browser) async throws -> Void) async throws {
        let folder = try WorkerTestSupport.TemporaryFolder()
        let browser = try Browser(folder.path)
        do { try await body(browser) } catch {
            browser.program.kill()
            await browser.program.waitForEnd()
            throw error
        }
        _ = try await browser.call("Browser.close")
        await browser.program.waitForEnd()
    }

    private init(_ folder: String) throws {
        guard let name = Self.name else { throw Failure(description: "there is no Chromium") }
        let (commands, events) = ("\(folder)/commands", "\(folder)/events")
        for pipe in [commands, events] where mkfifo(pipe, 0o600) != 0 { throw POSIXError(.EIO) }
        // For both ways, so that it need not wait for the reader.
        guard let input = FileHandle(forUpdatingAtPath: commands) else { throw POSIXError(.EIO) }
        self.commands = input
        program = try Program(
            "sh",
            [
                "-c", #"exec "$0" "$@" 3<"$COMMANDS" 4>"$EVENTS""#, name, "--headless", "--no-sandbox", "--disable-gpu",
                "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
                "--disable-component-update", "--remote-debugging-pipe", "--user-data-dir=\(folder)/profile",
            ], environment: ["COMMANDS": commands, "EVENTS": events])
        Thread.detachNewThread { [self] in
            // Opened where nobody waits for it: that takes until the browser opens the other end.
            guard let output = FileHandle(forReadingAtPath: events) else { return end() }
            var rest: [UInt8] = []
            while case let bytes = output.availableData, !bytes.isEmpty {
                rest += bytes
                while let zero = rest.firstIndex(of: 0) {
                    took(Array(rest[..<zero]))
                    rest.removeFirst(zero + 1)
                }
            }
            end()
        }
    }

    // MARK: What it is told

    /// Calls `method` with `parameters`, JSON, for the page of `session`.
    ///
    /// - Returns: the result.
    @discardableResult
    func call(_ method: String, _ parameters: String = "{}", session: String? = nil) async throws -> JSONValue {
        try await withCheckedThrowingContinuation { waiter in
            let number: Int? = state.withLock { state in
                guard !state.isOver else { return nil }
                state.lastCall += 1
                state.calls[state.lastCall] = waiter
                return state.lastCall
            }
            guard let number else { return waiter.resume(throwing: over) }
            let page = session.map { #","sessionId":"\#($0)""# } ?? ""
            let text = #"{"id":\#(number),"method":"\#(method)","params":\#(parameters)\#(page)}"#
            do { try commands.write(contentsOf: Data(text.utf8) + [0]) } catch {
                let waiter = state.withLock { $0.calls.removeValue(forKey: number) }
                waiter?.resume(throwing: error)
            }
        }
    }

    // MARK: What it says

    /// Returns the past events of `method`.
    func events(_ method: String) -> [Event] { state.withLock { $0.events.filter { $0.method == method } } }

    /// Waits until `method` happened `count` times.
    func wait(for method: String, count: Int) async throws {
        try await withCheckedThrowingContinuation { waiter in
            let isMet: Bool? = state.withLock { state in
                if state.events.count(where: { $0.method == method }) >= count { return true }
                if state.isOver { return nil }
                state.watchers.append((method, count, waiter))
                return false
            }
            switch isMet {
            case true: waiter.resume()
            case nil: waiter.resume(throwing: over)
            default: break
            }
        }
    }

    private func took(_ bytes: [UInt8]) {
        guard let message = try? JSONDocument(parsing: bytes).root else { return }
        if let number = message["id"]?.integer {
            let waiter = state.withLock { $0.calls.removeValue(forKey: Int(number)) }
            if let result = message["result"] { return waiter?.resume(returning: result) ?? () }
            waiter?.resume(
                throwing: Failure(description: String(decoding: message["error"]?.json ?? [], as: UTF8.self)))
        } else if let method = message["method"]?.string {
            let waiters = state.withLock { state in
                state.events.append(Event(method: method, parameters: message["params"]))
                let count = state.events.count { $0.method == method }
                let met = state.watchers.filter { $0.method == method && $0.count <= count }
                state.watchers.removeAll { $0.method == method && $0.count <= count }
                return met.map(\.waiter)
            }
            for waiter in waiters { waiter.resume() }
        }
    }

    private var over: Failure { Failure(description: "the browser exited: \(program.errorText.suffix(2000))") }

    private func end() {
        let (calls, watchers) = state.withLock { state in
            state.isOver = true
            defer { (state.calls, state.watchers) = ([:], []) }
            return (state.calls.values, state.watchers)
        }
        for waiter in calls { waiter.resume(throwing: over) }
        for watcher in watchers { watcher.waiter.resume(throwing: over) }
    }
}
