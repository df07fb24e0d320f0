/// A refused answer to a question of a setup, with its fix.
package struct SetupMistake: Error, Equatable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
