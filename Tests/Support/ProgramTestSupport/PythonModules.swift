import Foundation

/// Python's modules, for tests that ask one for a second opinion.
package enum PythonModules {
    /// Whether `python` (a path, or a name on the PATH) can import `modules`, as `import` lists them.
    package static func areInstalled(_ modules: String, for python: String = "python3") -> Bool {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [python, "-c", "import \(modules)"]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}
