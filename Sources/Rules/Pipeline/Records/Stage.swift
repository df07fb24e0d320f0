/// The stage of the pipeline at which an event failed; the value of the header `remint-error-stage`.
public enum Stage: String, CaseIterable, Sendable {
    case decode, admit, resolve, mint, settle
}
