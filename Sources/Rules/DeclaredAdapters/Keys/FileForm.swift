/// The form of a value in a vendor's file, as far as a schema can state it. `remint adapter lint` covers the rest.
indirect enum FileForm: Sendable {
    /// A string, which matches the pattern if there is one.
    case text(pattern: String? = nil)
    case bool
    case integer(ClosedRange<Int>)
    /// A word of a list.
    case words([String])
    /// A single value of any type.
    case scalar
    /// A value of any form.
    case any
    /// A mapping of anything.
    case object
    /// A mapping of the author's own names to values of one form.
    case mapping(of: FileForm)
    /// A mapping of declared keys.
    case section([FileKeyDescription])
    /// A list with at least `least` elements.
    case list(of: FileForm, least: Int = 0)
    /// A value of one of these forms.
    case either([FileForm])
    /// A form that stands at many places: the schema describes it once, under its name.
    case shared(String, FileForm, summary: String = "")
}

extension FileForm {
    /// A list of texts, or a single one.
    static let texts = shared("texts", .either([.text(), .list(of: .text())]))

    /// Members of a report.
    static let paths = shared(
        "paths", .either([.text(), .list(of: .either([.text(), .list(of: .text())]))]),
        summary: "Members of a report, with dots between the names of nested ones; the first that holds a value counts."
    )

    /// A duration such as `1h`.
    static let duration = shared("duration", .text(pattern: "^[0-9]+(ms|s|m|h|d)$"))

    /// A moment in a test.
    static let moment = shared(
        "moment", .scalar, summary: "A time such as 2026-11-25T12:00:00Z, or seconds since 1970.")

    /// A vendor's verdict.
    static let answer = shared(
        "answer", .text(pattern: "^[^ ]+ .+$"),
        summary: "The vendor's code, a space, its name; a hyphen where the vendor has no code.")

    /// A single value of `form`, or a list of them.
    static func oneOrMore(_ form: FileForm) -> FileForm { .either([form, .list(of: form)]) }
}
