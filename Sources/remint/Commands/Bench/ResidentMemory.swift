import Foundation

/// This process's memory as the kernel counts it, in bytes.
enum ResidentMemory {
    static var now: Int { kilobytes("VmRSS:") << 10 }
    static var peak: Int { kilobytes("VmHWM:") << 10 }

    private static func kilobytes(_ name: String) -> Int {
        guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix(name) })
        else { return 0 }
        return Int(line.dropFirst(name.count).filter(\.isNumber)) ?? 0
    }
}
