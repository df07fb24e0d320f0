import AdapterKit

/// A stage's answer to an event.
enum Disposition<Next: Sendable>: Sendable {
    /// It goes on to the next stage.
    case next(Next)
    /// It gets no token. The event is nil where the record could not be read.
    indirect case ended(Ending, of: ReadEvent?)
    /// The token of an earlier event of its batch, the draft at place `leader`, answers it, or what keeps that one from its token
    /// ends it too.
    case follows(MintRequest, leader: Int)
    /// It waits in its place for an answer, until this moment.
    case waits(until: UnixTime)

    /// Hands what goes on to the next stage.
    @inline(__always)
    func then<Other>(_ stage: (Next) -> Disposition<Other>) -> Disposition<Other> {
        switch self {
        case .next(let next): stage(next)
        case .ended(let ending, let event): .ended(ending, of: event)
        case .follows(let request, let leader): .follows(request, leader: leader)
        case .waits(let moment): .waits(until: moment)
        }
    }
}

/// The end of an event that gets no token now.
enum Ending: Sendable, Equatable {
    /// A stage failed. The token is the one that the vendor refused, where that is why.
    case failed(Rejection, Stage, refused: RefusedToken? = nil)
    /// There is nothing to do; says why.
    case skipped(String)
    /// A newer token answers it.
    case superseded(Supersession)
    /// Its app is suspended.
    case suspended
    /// The vendor's answer about this user is expected about this moment.
    case awaits(UnixTime, about: SubjectID)
}
