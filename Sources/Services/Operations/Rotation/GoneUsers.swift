import AdapterKit
import Formats

/// Users that the vendor does not know any more and that hold a token of the old version. Asking for them again does
/// not help: no worker mints for them, and their tokens live until they end.
struct GoneUsers: Equatable {
    /// The number of users.
    var count = 0
    /// The end of their last token, in seconds since 1970; nil where there is none.
    var lastEnd: Int64?

    /// The users and the end of their tokens, in a line; empty where there are none.
    var fact: String {
        guard count > 0 else { return "" }
        let end = lastEnd.map { " by \(UnixTime(seconds: $0))" } ?? " at an unknown time"
        let users = count.of(
            "user is gone at the vendor (user_gone): its token is not replaced and ends",
            "users are gone at the vendor (user_gone): their tokens are not replaced and end")
        return users + end
    }
}
