import Foundation

/// The system resources that a process holds at a moment.
struct ProcessFigures: CustomStringConvertible {
    let descriptors: Int
    let threads: Int
    /// Resident memory, in kB.
    let memory: Int

    /// Those of the process `number`.
    init(of number: pid_t) throws {
        descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(number)/fd").count
        let status = try String(contentsOfFile: "/proc/\(number)/status", encoding: .utf8)
        func figure(_ name: String) -> Int {
            let line = status.split(separator: "\n").first { $0.hasPrefix("\(name):") } ?? ""
            return line.split { !$0.isNumber }.first.flatMap { Int($0) } ?? 0
        }
        threads = figure("Threads")
        memory = figure("VmRSS")
    }

    var description: String { "\(descriptors) descriptors, \(threads) threads, \(memory / 1024) MB" }
}
