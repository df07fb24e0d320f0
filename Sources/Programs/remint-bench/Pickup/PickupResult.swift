import CommandKit
import Foundation
import JOSE

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
