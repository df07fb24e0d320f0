package import AdapterKit
import YAMLReading

extension AdapterRegistry {
    /// Returns the error of the name `name`, which this registry has no adapter for, with its correction.
    ///
    /// - Parameter shown: the name as the error may show it.
    package func error(without name: String, shown: String) -> String {
        let known = names
        // The name of a file that comes with the program and does not load.
        guard !known.contains(name) else {
            return "the program's file of the vendor \(name) cannot be used; install Remint again"
        }
        let meant = Spelling.nearest(to: name, among: known).map { "did you mean \($0)?" }
        return "no adapter is called \(shown); \(meant ?? "known: \(known.joined(separator: ", "))")"
    }
}
