import Foundation
import Glibc
import Synchronization

/// A Python process that answers the requests of all tests of a test process, one after the other.
///
/// It starts with the first request, because a start takes longer than most answers. It ends when its input closes, which is
/// the end of the test process. A thread of its own talks with it.
package final class PythonServer: Sendable {
    package struct Answer: Decodable, Sendable {
        /// The value that the script returned; nil for None, and where it raised an error.
        package let ok: String?
        package let error: String?
    }

    /// The reason why a request has no answer.
    private struct Failure: Error { let text: String }

    private struct Request {
        let line: [UInt8]
        let waiter: CheckedContinuation<[UInt8], any Error>
    }

    private struct State {
        var requests: [Request] = []
        var isServed = false
        var process: pid_t?
    }

    /// The pipes' ends on this side, and what was read beyond a line's end.
    private struct Connection {
        let input: Int32
        let output: Int32
        var rest: [UInt8] = []
    }

    private enum Link { case unused, open(Connection), lost(Failure) }

    private let script: String
    private let state = Mutex(State())
    /// Locked by the one thread that serves requests, for as long as an exchange takes.
    private let link = Mutex(Link.unused)

    /// A server with a `script` in Python that defines `answer(request)`, which returns a string or None.
    package init(_ script: String) { self.script = script }

    /// Returns the script's answer to `request`, which it gets as JSON reads it.
    ///
    /// - Throws: an error if the process has exited.
    package func answer(to request: some Encodable) async throws -> Answer {
        let line = try [UInt8](JSONEncoder().encode(request)) + [UInt8(ascii: "\n")]
        let answer = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (waiter: CheckedContinuation<[UInt8], any Error>) in
                let isFirst = state.withLock { state in
                    state.requests.append(Request(line: line, waiter: waiter))
                    defer { state.isServed = true }
                    return !state.isServed
                }
                if isFirst { Thread.detachNewThread { [self] in serve() } }
            }
        } onCancel: {
            // A test that ran out of time waits for nothing more.
            if let process = state.withLock({ $0.process }) { _ = Glibc.kill(process, SIGKILL) }
        }
        return try JSONDecoder().decode(Answer.self, from: Data(answer))
    }

    /// Serves the requests until none is left.
    private func serve() {
        while let request = next() {
            do { request.waiter.resume(returning: try exchange(request.line)) } catch {
                request.waiter.resume(throwing: error)
            }
        }
    }

    private func next() -> Request? {
        state.withLock { state in
            if state.requests.isEmpty {
                state.isServed = false
                return nil
            }
            return state.requests.removeFirst()
        }
    }

    /// Sends one line and returns the answer's. The first error is the answer to every later request.
    private func exchange(_ line: [UInt8]) throws -> [UInt8] {
        try link.withLock { link in
            do {
                var connection: Connection
                switch link {
                case .unused: connection = try start()
                case .open(let open): connection = open
                case .lost(let failure): throw failure
                }
                try Self.write(line, to: connection.input)
                let answer = try Self.readLine(&connection)
                link = .open(connection)
                return answer
            } catch {
                link = .lost(error as? Failure ?? Failure(text: "python3 does not start: \(error)"))
                throw error
            }
        }
    }

    private func start() throws -> Connection {
        let child = try ChildProcess.spawn("python3", ["-c", Self.program(script)], keepsErrors: true)
        state.withLock { $0.process = child.process }
        return Connection(input: child.input, output: child.output)
    }

    private static func write(_ line: [UInt8], to input: Int32) throws {
        var rest = line[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(input, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Failure(text: "python3 has exited, and reads no request") }
            rest = rest.dropFirst(count)
        }
    }

    private static func readLine(_ connection: inout Connection) throws -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            if let end = connection.rest.firstIndex(of: UInt8(ascii: "\n")) {
                defer { connection.rest.removeSubrange(...end) }
                return Array(connection.rest[..<end])
            }
            let count = Glibc.read(connection.output, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Failure(text: "python3 has exited without an answer") }
            connection.rest += buffer[..<count]
        }
    }

    /// Returns `script` with the loop that reads requests and writes answers. What the script prints goes to standard
    /// error.
    private static func program(_ script: String) -> String {
        """
        import json, sys, warnings
        warnings.simplefilter("ignore")
        answers, sys.stdout = sys.stdout, sys.stderr
        \(script)
        for line in sys.stdin.buffer:
            try:
                reply = {"ok": answer(json.loads(line))}
            except Exception as error:
                reply = {"ok": None, "error": repr(error)}
            answers.write(json.dumps(reply) + chr(10))
            answers.flush()
        """
    }
}
