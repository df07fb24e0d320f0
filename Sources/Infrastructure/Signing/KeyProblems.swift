/// The receiver of problems with the keys of `source`, a ring or a signer's socket; nil where there is none.
public typealias KeyProblems = @Sendable (_ problem: String?, _ source: String) -> Void
