/// A measurement that came to nothing.
package struct BenchFailed: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
