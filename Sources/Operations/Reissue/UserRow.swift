/// A user of a batch job's input, or why a row names none.
package struct UserRow: Sendable, Equatable {
    /// The line the row begins on, from 1.
    package let line: Int
    /// The user as `reissue.user` takes it: a JSON string, or an object of ids by name.
    package let user: Result<[UInt8], BadRow>

    /// The user on `line`.
    package init(line: Int, user: Result<[UInt8], BadRow>) {
        self.line = line
        self.user = user
    }

    /// Why a row cannot be used. Never what stands in it.
    package struct BadRow: Error, Sendable, Equatable {
        /// Why.
        package let reason: String

        /// A row that cannot be used because of `reason`.
        package init(_ reason: String) { self.reason = reason }
    }
}
