package import AdapterKit
package import YAMLReading

/// A vendor's file that was read: its description, and its tests.
package struct DeclaredVendor: Sendable {
    /// The file's description of the vendor.
    package let description: VendorDescription
    /// The tests in the file; nil where there are none.
    package let tests: FileTests?
    /// The places of values that an author has still to fill in.
    package let unfilled: [FileLocation]

    /// Reads the vendor in `text`; nil where it has errors. The diagnostics are errors, warnings and notices.
    ///
    /// - Parameter file: the file's name in diagnostics.
    package static func load(_ text: String, file: String) -> (vendor: DeclaredVendor?, diagnostics: [Diagnostic]) {
        let read = DescriptionReader().read(text, file: file)
        return (
            read.description.map { DeclaredVendor(description: $0, tests: read.tests, unfilled: read.unfilled) },
            read.diagnostics
        )
    }

    /// The vendor as programs offer it.
    package var registration: AdapterRegistry.Registration {
        let description = description
        return AdapterRegistry.Registration(
            name: description.name, vendor: description.vendor, settings: description.settings.map(\.key),
            missingFacts: description.missing.map(\.text)
        ) { decoder in
            try DeclaredAdapter(settings: DeclaredSettings(description, from: decoder))
        }
    }
}
