import CommandKit
import Foundation
import Testing

@Suite("A service's standard error that nobody reads") struct BoundedErrorsTests {
    @Test(arguments: ["{}", "text"])
    func `a service drops lines while its pipe is full, and states their number afterwards`(_ line: String) throws {
        let pipe = Pipe()
        let errors = BoundedErrors(descriptor: pipe.fileHandleForWriting.fileDescriptor, limit: 0)
        let filling = String(repeating: "x", count: 4095) + "\n"
        // A pipe has 64 KiB, or 1 MiB at most.
        for _ in 0..<300 { errors.write(filling) }
        var read = 0
        while read < 16 * 4096 { read += pipe.fileHandleForReading.readData(ofLength: 4096).count }
        errors.write("\(line)\n")
        errors.write("\(line)\n")
        try pipe.fileHandleForWriting.close()
        let rest = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let lines = rest.split(separator: "\n").suffix(3)
        #expect(lines.first?.contains("284 log lines were dropped") == true)
        #expect(lines.first?.hasPrefix("{") == line.hasPrefix("{"))
        #expect(lines.dropFirst().allSatisfy { $0 == line })
    }
}
