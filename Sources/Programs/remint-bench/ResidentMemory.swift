import Foundation

/// A process's memory as the kernel counts it, in bytes.
enum ResidentMemory {
    /// The memory of this process, in bytes.
    static var now: Int { bytes("VmRSS:", of: "self") }
    /// The most this process had.
    static var peak: Int { bytes("VmHWM:", of: "self") }

    /// Returns the memory of another process, in bytes.
    static func now(of process: Int32) -> Int { bytes("VmRSS:", of: String(process)) }

    /// Returns the peak memory of another process, in bytes.
    static func peak(of process: Int32) -> Int { bytes("VmHWM:", of: String(process)) }

    private static func bytes(_ name: String, of process: String) -> Int {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix(name) })
        else { return 0 }
        return (Int(line.dropFirst(name.count).filter(\.isNumber)) ?? 0) << 10
    }
}
