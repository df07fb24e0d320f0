/// Told what is wrong with the keys of `source`, a ring or a signer's socket; with nil that nothing is.
public typealias KeyProblems = @Sendable (_ problem: String?, _ source: String) -> Void
