import YAMLReading
import Yams

/// A list that is none of texts.
struct NotTexts: Error {}

extension Section {
    /// Returns the texts of the sequence `node`, or its single text.
    func plainTexts(_ node: Node) throws(NotTexts) -> [String] {
        if let scalar = node.scalar { return [scalar.string] }
        guard let sequence = node.sequence, sequence.count <= 256 else { throw NotTexts() }
        var texts: [String] = []
        for element in sequence {
            guard let scalar = element.scalar else { throw NotTexts() }
            texts.append(scalar.string)
        }
        return texts
    }

    /// Returns the texts under `name`: a list, or a single one. nil where there are none, or a wrong value, which is
    /// then reported.
    func texts(_ name: String) -> [String]? {
        guard let node = value(name) else { return nil }
        do throws(NotTexts) { return try plainTexts(node) } catch {
            diagnostics.error(node, "\(path(name)) must be a string or a list of strings")
            return nil
        }
    }
}
