import Signing
import Synchronization

/// The reported problems of keys, by source.
final class RecordedProblems: Sendable {
    private let problems = Mutex<[String: String]>([:])

    /// The problems reported at the moment; nil for none.
    var text: String? {
        let all = problems.withLock { $0 }
        return all.isEmpty ? nil : all.sorted { $0.key < $1.key }.map(\.value).joined(separator: "; ")
    }

    var report: KeyProblems { { problem, source in self.problems.withLock { $0[source] = problem } } }
}
