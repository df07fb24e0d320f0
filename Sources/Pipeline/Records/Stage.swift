/// Where in the pipeline an event failed, as the header `remint-error-stage` says it.
public enum Stage: String, Sendable {
    case decode, admit, resolve, mint, settle
}
