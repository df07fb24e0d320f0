import AdapterKit

extension Admission {
    /// Decides whether `request` gets a token that `key` signs, in a batch that mints tokens for `subjects`.
    mutating func admit(
        _ request: MintRequest, key: SigningKeyReference, in subjects: inout BatchSubjects, at now: UnixTime
    ) -> Disposition<Ticket> {
        // The token that this batch mints for the subject is newer than any report.
        if isShared(request), let leader = subjects.leader(of: request.id) {
            // A report from a retry tier may be the earlier one, unless a token already answered it.
            if let time = request.reportedAt, subjects.isFirst(time, of: leader), isUnanswered(request.id, since: time)
            {
                subjects.join(leader, reportedAt: time)
            }
            return .follows(request, leader: leader)
        }
        let count = subjects.count(of: request.id)
        switch verdict(on: request.facts, with: key, alreadyInBatch: count, at: now) {
        case .ended(.failed(let rejection, let stage, _), _):
            return .ended(.failed(rejection, stage, refused: request.refusedToken(key.version)), of: request.event)
        case .ended(let ending, _): return .ended(ending, of: request.event)
        case let verdict: return verdict
        }
    }

    /// Counts an event that no token fixes and that may blame the key. Returns its ending.
    mutating func hear(_ blame: KeyBlame, of request: MintRequest, key: SigningKeyReference?, at now: UnixTime)
        -> Ending
    {
        if let key { heardBlame(in: request.facts, of: key, at: now) }
        return .failed(blame.rejection, .resolve, refused: request.refusedToken(blame.version))
    }

    /// Adds the draft of `request`, which was admitted.
    func add(draftOf request: MintRequest, to subjects: inout BatchSubjects) {
        subjects.append(request.id, reportedAt: request.reportedAt, isShared: isShared(request))
    }

    /// Returns whether the token of `request` also answers its subject's other events.
    private func isShared(_ request: MintRequest) -> Bool { isOn && !request.facts.isChallenge }
}
