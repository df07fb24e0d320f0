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

    /// Returns those of `modules` that Python has. One process looks for all, and imports only their parents.
    package static func installed(among modules: [String]) -> Set<String> {
        let file = FileManager.default.temporaryDirectory.appending(path: "modules-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let script = """
            import sys
            from importlib.util import find_spec

            def has(module):
                try:
                    return find_spec(module) is not None
                except Exception:
                    return False

            open(sys.argv[1], "w").write(" ".join(filter(has, sys.argv[2:])))
            """
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", "-W", "ignore", "-c", script, file.path] + modules
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return [] }
        process.waitUntilExit()
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        return Set(text.split(separator: " ").map(String.init))
    }
}
