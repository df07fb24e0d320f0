/// A user of a batch job's input, or the reason why a row names none.
package struct UserRow: Sendable, Equatable {
    /// The line on which the row begins, from 1.
    package let line: Int
    /// The user as `reissue.user` accepts it: a JSON string, or an object of ids by name.
    package let user: Result<[UInt8], BadRow>

    /// The user on `line`.
    package init(line: Int, user: Result<[UInt8], BadRow>) {
        self.line = line
        self.user = user
    }

    /// The reason why a row cannot be used, without the row's content.
    package struct BadRow: Error, Sendable, Equatable {
        /// The reason.
        package let reason: String

        /// A row that cannot be used because of `reason`.
        package init(_ reason: String) { self.reason = reason }
    }
}
