import AdapterKit
import HTTPTransport
import Synchronization

/// The date of all answers (RFC 9110, section 6.6.1), written once a second.
final class AnswerDate: Sendable {
    private let now: @Sendable () -> UnixTime
    private let written: Mutex<(second: Int64, text: String)>

    init(now: @escaping @Sendable () -> UnixTime) {
        self.now = now
        written = Mutex((.min, ""))
    }

    /// The date of this second.
    var text: String {
        let now = now()
        return written.withLock { written in
            if written.second != now.seconds { written = (now.seconds, HTTPDate.text(now)) }
            return written.text
        }
    }
}
