import ArgumentParser
import Bench
import CommandKit
import Foundation
import JOSE
import Serving

/// `remint-bench pickup`.
struct BenchPickup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pickup",
        abstract: "Measures the gateway: devices that return, wait and get tokens, and the cost of one device.",
        discussion: """
            The command starts the worker and the gateway of --remint as separate processes, on their own topics, and
            deletes these topics afterwards. First, devices without a token connect, --returning at a time, as after a
            long sleep. Then all devices are connected at once and wait for their next token. --answered of them report
            their token as refused. The command checks that each token belongs to the user of its device.

            An embedded broker keeps 5 MB of a partition, which is little for many tokens.
            """)

    @Option(help: "RS256, ES256 or HS256.") var algorithm = "ES256"
    @Option(help: "Number of devices.") var devices = 10_000
    @Option(help: "Number of devices that get a new token while all devices wait.") var answered = 1000
    @Option(help: "Number of devices that return at a time.") var returning = 500
    @Flag(help: "Print the result as JSON.") var json = false
    @OptionGroup var measured: MeasuredProgram
    @OptionGroup var target: BenchBroker.Options

    func validate() throws {
        guard (1...200_000).contains(devices) else { throw ValidationError("--devices is 1 to 200000") }
        guard (1...devices).contains(answered) else { throw ValidationError("--answered is 1 to --devices") }
        guard (1...devices).contains(returning) else { throw ValidationError("--returning is 1 to --devices") }
    }

    func run() async throws {
        try DeviceFiles.allow(devices + 1000)
        let app = try BenchApp.named(algorithm)
        let result = try await target.withBroker { broker in
            let stage = try await PickupStage(app, broker, program: measured.url)
            do {
                let result = try await measure(stage, PickupDevices(stage))
                await stage.end()
                return result
            } catch {
                await stage.end()
                throw error
            }
        }
        json ? result.printJSON(algorithm, devices) : result.printTable(algorithm, devices)
    }

    private func measure(_ stage: PickupStage, _ gateway: PickupDevices) async throws -> PickupResult {
        var progress = ProgressLine()
        defer { progress.clear() }
        try stage.start()
        while !(await gateway.isReady()) {
            guard stage.isRunning else {
                throw BenchFailed("a process exited; its last output is printed before this line")
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        // What happens once: the worker's first batch, connections.
        _ = try await gateway.token(try await gateway.device("user-first"))
        var result = PickupResult(before: stage.gatewayBytes)
        progress.show(0, of: 3, "devices come back")
        let start = ContinuousClock.now
        let returned = try await Self.each(Array(0..<devices), atOnce: returning) { number in
            let device = try await gateway.device("user-\(number)")
            return (device, try await gateway.token(device))
        }
        result.returnSeconds = (.now - start) / .seconds(1)
        result.returned = returned.map(\.1)
        progress.show(1, of: 3, "devices wait")
        try await hold(returned.map(\.0), stage, gateway, &result)
        return result
    }

    /// Makes all devices wait, and answers some.
    private func hold(
        _ all: [PickupDevices.Device], _ stage: PickupStage, _ gateway: PickupDevices, _ result: inout PickupResult
    ) async throws {
        let versions = result.returned.map(\.version)
        let (chosen, rest) = (Array(zip(all, versions).prefix(answered)), Array(zip(all, versions).dropFirst(answered)))
        let others = Task {
            await withTaskGroup(of: Void.self) { group in
                // They go on waiting until they are let go.
                for (device, version) in rest { group.addTask { _ = try? await gateway.token(device, after: version) } }
            }
        }
        defer { others.cancel() }
        async let tokens = Self.each(chosen, atOnce: answered) { try await gateway.token($0.0, after: $0.1) }
        // Ten thousand calls are not there at once.
        try await Task.sleep(for: .seconds(3))
        result.held = stage.gatewayBytes
        let start = ContinuousClock.now
        _ = try await Self.each(chosen, atOnce: returning) { try await gateway.reject($0.0) }
        result.answered = try await tokens
        result.answerSeconds = (.now - start) / .seconds(1)
    }

    /// Runs `body` for each of `items`, a limited number at a time, in their order.
    private static func each<Item: Sendable, Result: Sendable>(
        _ items: [Item], atOnce: Int, _ body: @escaping @Sendable (Item) async throws -> Result
    ) async throws -> [Result] {
        try await withThrowingTaskGroup(of: (Int, Result).self) { group in
            var results: [Result?] = Array(repeating: nil, count: items.count)
            var next = 0
            func add() {
                guard next < items.count else { return }
                let index = next
                next += 1
                group.addTask { (index, try await body(items[index])) }
            }
            for _ in 0..<atOnce { add() }
            while let (index, result) = try await group.next() {
                results[index] = result
                add()
            }
            return results.compactMap { $0 }
        }
    }
}

/// The limit of open files, for this process and those it starts.
private enum DeviceFiles {
    static func allow(_ count: Int) throws {
        guard OpenFiles.raised().limit >= count else {
            throw BenchFailed(
                "\(count.of("file")) cannot be open at once; raise the limit (ulimit -n) or take fewer --devices")
        }
    }
}

/// The figures that `remint-bench pickup` measured.
struct PickupResult {
    /// The gateway's memory before the first device, in bytes.
    let before: Int
    /// The gateway's memory while all devices wait.
    var held = 0
    var returned: [PickupDevices.Token] = []
    var returnSeconds = 0.0
    var answered: [PickupDevices.Token] = []
    var answerSeconds = 0.0

    private static func percentile(_ times: [Duration], _ share: Double) -> Double {
        let sorted = times.sorted()
        guard !sorted.isEmpty else { return 0 }
        return sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))] / .milliseconds(1)
    }

    /// Returns the gateway's memory for a waiting device, its token included, in kilobytes.
    private func kilobytes(_ devices: Int) -> Double { Double(held - before) / Double(devices) / 1000 }

    func printTable(_ algorithm: String, _ devices: Int) {
        var table = TextTable("what", "figure")
        let waits = returned.map(\.wait)
        table.add(
            "\(devices.of("device comes", "devices come")) back (\(algorithm))",
            String(
                format: "%.1f s, p50 %.0f ms, p99 %.0f ms, shortest life %d s", returnSeconds,
                Self.percentile(waits, 0.5), Self.percentile(waits, 0.99), Int(returned.map(\.life).min() ?? 0)))
        table.add("one that waits, with its token", String(format: "%.1f kB", kilobytes(devices)))
        let ages = answered.map(\.age)
        table.add(
            "\(answered.count) of them are answered",
            String(
                format: "%.2f s from the first report; minted to delivered p50 %.0f ms, p99 %.0f ms", answerSeconds,
                Self.percentile(ages, 0.5), Self.percentile(ages, 0.99)))
        table.add("tokens held against their users", "\(returned.count + answered.count)")
        for line in table.lines { Terminal.print(line) }
    }

    func printJSON(_ algorithm: String, _ devices: Int) {
        var json = JSONWriter()
        json.beginObject()
        json.member("benchmark", "pickup")
        json.member("algorithm", algorithm)
        json.member("devices", Int64(devices))
        json.member("return_ms", Int64(returnSeconds * 1000))
        json.member("return_p99_ms", Int64(Self.percentile(returned.map(\.wait), 0.99)))
        json.member("shortest_life_seconds", returned.map(\.life).min() ?? 0)
        json.member("bytes_per_device", Int64(kilobytes(devices) * 1000))
        json.member("answered", Int64(answered.count))
        json.member("answer_ms", Int64(answerSeconds * 1000))
        json.member("minted_to_delivered_p99_ms", Int64(Self.percentile(answered.map(\.age), 0.99)))
        json.endObject()
        Terminal.print(String(decoding: json.bytes, as: UTF8.self))
    }
}
