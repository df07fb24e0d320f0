import DeclaredAdapters
import Foundation
import YAMLReading

/// Files of the repository that these tests read.
enum Places {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// The names of the shipped files.
    static let shipped: [String] = ((try? FileManager.default.contentsOfDirectory(atPath: declared.path)) ?? [])
        .filter { $0.hasSuffix(".yaml") }.map { String($0.dropLast(5)) }.sorted()

    static let declared = root.appending(path: "adapters/declared")

    static func text(ofShipped name: String) throws -> String {
        try String(contentsOf: declared.appending(path: "\(name).yaml"), encoding: .utf8)
    }

    /// A compiled vendor's rules, written as a file.
    static func text(ofRules name: String) throws -> String {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        return try String(contentsOf: folder.appending(path: "Rules/\(name).yaml"), encoding: .utf8)
    }

    /// The vendor in `text`.
    static func vendor(_ text: String, file: String = "vendor.yaml") throws -> DeclaredVendor {
        let (vendor, diagnostics) = DeclaredVendor.load(text, file: file)
        guard let vendor else { throw NoVendor(text: diagnostics.map(\.description).joined(separator: "\n")) }
        return vendor
    }

    struct NoVendor: Error { let text: String }
}
