/// The violations that are still there, and the lines that may break a rule. A number here may only fall.
enum TidyCeilings {
    /// Doc comments that begin with a question word.
    static let questions = 0

    /// Lines that may break a rule: at most 20, each with its reason.
    static let exceptions: [(rule: String, line: String, reason: String)] = [
        ("says?|said|tells?|told", "\"says\"", "a key of vendors' files"),
        ("says?|said|tells?|told", #"\"says\""#, "a key of vendors' files"),
        ("says?|said|tells?|told", "says: accepted", "the verdict is the vendor's word"),
        ("says?|said|tells?|told", ") says: ", "the verdict is the vendor's word"),
        ("patience", "patience: ", "a key of the configuration"),
        ("patience", "lookup.patience must", "a key of the configuration"),
        ("patience", "timeout, patience, rate", "a key of the configuration"),
        ("patience", "\"PATIENCE\"", "a variable of the script"),
        ("(?:comes?|came) to (?:its|their|an) end|ended", " ended: ", "the name of a parameter"),
        ("goes by|go by", "(was: `… goes by its clock`)", "the former name of a log message"),
        ("anew", "(was: `… decides anew where to read from`)", "the former name of a log message"),
        ("says?|said|tells?|told", "(was: `the gateway was told to stop; …`)", "the former name of a log message"),
    ]
}
