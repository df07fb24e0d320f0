import AdapterKit
import AsyncTestSupport
import DeclaredAdapters
import DeclaredTesting
import Foundation
import Testing
import YAMLReading

@testable import AdapterTestKit

/// Files that are damaged on purpose: each loads or is refused with a place, soon and in little memory.
@Suite(.serialized) struct MutatedFilesTests {
    private static let splices = [
        "{{", "}}", "{{user}}", "{{report.x}}", "{{settings.}}", "{{now-}}", "{{now+99999999999999999999s}}",
        "$one_of: ",
        "$omit_if_absent: ", "$json: ", "[", "]", "{", "}", ": ", "\n  - ", "&a ", "*a", "!!int ", "\"", "'", "|\n",
        "~", "null",
        "99999999999999999999", "0x1f", "1e999", "\u{0}", "\u{FEFF}", "\t", "<<: *a", "---\n", "...\n", "%YAML 9.9\n",
        "? ",
    ]

    @Test(.timeLimit(.minutes(5))) func `damaged files load or are refused with a place`() throws {
        let texts = try Places.shipped.map { Array(try Places.text(ofShipped: $0).utf8) }
        var random = SplitMix64(seed: 0x28F1)
        var (loaded, refused) = (0, 0)
        var slowest = Duration.zero
        var most = 0
        for number in 0..<Scale.rounds(10_000) {
            let text = String(decoding: Self.mutated(texts[number % texts.count], texts, &random), as: UTF8.self)
            let before = Self.peakMemory()
            let start = Self.cpuTime()
            let (vendor, diagnostics) = DeclaredVendor.load(text, file: "v.yaml")
            most = max(most, Self.peakMemory() - before)
            slowest = max(slowest, Self.cpuTime() - start)
            guard let vendor else {
                refused += 1
                let first = try #require(
                    diagnostics.first { $0.severity == .error }, "\(number) is refused without a word")
                #expect(first.place.line >= 1 && first.place.column >= 1)
                continue
            }
            loaded += 1
            // What loads can be used: an adapter is made or its settings are refused, and garbage is read.
            if let app = vendor.tests?.apps.first, let adapter = try? vendor.adapter(settings: app.settings) {
                let garbage = GarbageJSON.value(depth: 3, random: &random)
                if let root = try? JSONDocument(parsing: garbage).root {
                    _ = adapter.read(Report(root, observedAt: UnixTime(seconds: 1)))
                }
            }
        }
        print("mutated files: \(loaded) loaded, \(refused) refused, slowest \(slowest), at most \(most) kB for one")
        #expect(loaded > Scale.rounds(500) && refused > Scale.rounds(500))
        #expect(slowest < .seconds(5))
        // Other tests of this process run meanwhile, so what one file takes is measured around it alone.
        #expect(most < 50 << 10)
    }

    @Test func `a file that would exhaust the machine is refused at once`() throws {
        let before = Self.peakMemory()
        var bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n"
        for level in 1..<12 {
            bomb +=
                "a\(level): &a\(level) [" + Array(repeating: "*a\(level - 1)", count: 9).joined(separator: ",") + "]\n"
        }
        let texts = [
            bomb, String(repeating: "[", count: 100_000), String(repeating: "{a: ", count: 50_000),
            String(repeating: "- ", count: 100_000), String(repeating: "? ", count: 100_000),
            (0..<2_000).map { String(repeating: " ", count: $0) + "a:\n" }.joined(),
            String(repeating: "x", count: 1 << 20), "vendor: " + String(repeating: "{{", count: 50_000),
            "codes:\n" + String(repeating: "  - { name: X, remedy: mint }\n", count: 5_000),
        ]
        for text in texts {
            let start = Self.cpuTime()
            let (vendor, diagnostics) = DeclaredVendor.load(text, file: "v.yaml")
            #expect(vendor == nil)
            #expect(diagnostics.contains { $0.severity == .error })
            #expect(Self.cpuTime() - start < .seconds(10))
        }
        #expect(Self.peakMemory() - before < 50 << 10)
    }

    private static func mutated(_ text: [UInt8], _ others: [[UInt8]], _ random: inout SplitMix64) -> [UInt8] {
        var text = text
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let at = Int.random(in: 0..<max(1, text.count), using: &random)
            switch Int.random(in: 0..<7, using: &random) {
            case 0: text.removeSubrange(at..<min(text.count, at + Int.random(in: 1...40, using: &random)))
            case 1: text.insert(contentsOf: (splices.randomElement(using: &random) ?? "").utf8, at: min(at, text.count))
            case 2: if at < text.count { text[at] = UInt8.random(in: 9...126, using: &random) }
            case 3:
                // Another file's lines in the midst of this one's.
                let other = others.randomElement(using: &random) ?? []
                let from = Int.random(in: 0..<max(1, other.count), using: &random)
                text.insert(contentsOf: other[from..<min(other.count, from + 120)], at: min(at, text.count))
            case 4: text = Array(text.prefix(at))
            case 5: swapWords(in: &text, &random)
            default: if at < text.count { text.insert(text[at], at: at) }
            }
            if text.isEmpty { text = Array("a".utf8) }
        }
        return text
    }

    /// Two lines change places.
    private static func swapWords(in text: inout [UInt8], _ random: inout SplitMix64) {
        var lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard lines.count > 2 else { return }
        let (one, two) = (
            Int.random(in: 0..<lines.count, using: &random), Int.random(in: 0..<lines.count, using: &random)
        )
        lines.swapAt(one, two)
        text = Array(lines.joined(separator: [UInt8(ascii: "\n")]))
    }

    /// The time that this thread had a core, which other work on the machine does not lengthen.
    private static func cpuTime() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// The most memory this process has had, in kB; 0 where the system does not report it.
    private static func peakMemory() -> Int {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") })
        else { return 0 }
        return Int(line.filter(\.isNumber)) ?? 0
    }
}
