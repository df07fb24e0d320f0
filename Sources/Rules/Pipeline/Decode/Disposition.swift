import AdapterKit

/// A stage's result for an event.
enum Disposition<Next: Sendable>: Sendable {
    /// The event continues to the next stage.
    case next(Next)
    /// The event gets no token. `of` is nil if the record could not be read.
    indirect case ended(Ending, of: ReadEvent?)
    /// The event shares the result of an earlier event of its batch, the draft at place `leader`: its token, or its
    /// failure.
    case follows(MintRequest, leader: Int)
    /// The event waits in place for an answer, until this moment.
    case waits(until: UnixTime)

    /// Passes the result to the next stage if the event continues.
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

/// The ending of an event that gets no token now.
enum Ending: Sendable, Equatable {
    /// A stage failed. `refused` is the token that the vendor refused, if that is the reason.
    case failed(Rejection, Stage, refused: RefusedToken? = nil)
    /// There is nothing to do; the string is the reason.
    case skipped(String)
    /// A newer token answers the event.
    case superseded(Supersession)
    /// The event's app is suspended.
    case suspended
    /// The vendor's answer about this user is expected at about this time.
    case awaits(UnixTime, about: SubjectID)
}
