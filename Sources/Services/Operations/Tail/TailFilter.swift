import AdapterKit
import Formats

/// A selection of the records of a tail.
package struct TailFilter: Sendable {
    /// Selects the records of this app.
    package var app: String?
    /// Selects the records about this user: the id, or one of the ids.
    package var user: String?

    /// A filter by `app` and `user`; nil for any.
    package init(app: String? = nil, user: String? = nil) {
        self.app = app
        self.user = user
    }

    /// Returns whether the filter selects `record`.
    package func matches(_ record: TailedRecord) -> Bool {
        if let app, record.app.map({ app.hasSameBytes(as: $0) }) != true { return false }
        guard let user else { return true }
        switch record.subject?.identity {
        case .user(let id): return user.hasSameBytes(as: id)
        case .identifiers(let ids): return ids.contains { user.hasSameBytes(as: $0.value) }
        case nil: return false
        }
    }
}
