/// The words that Remint's language does without, each with what to write.
enum TidyWords {
    static let plain = [
        TidyRule("mend(?:s|ed|ing)?|puts? right", "write: fix"),
        TidyRule("whom", "name the person: the subject, the token's user"),
        TidyRule("what holds", "write: the effective configuration, the value in use"),
        TidyRule("goes by|go by", "write: uses, follows"),
        TidyRule("be it|as many as one likes", "write: any"),
        TidyRule("so many", "write the number or its name"),
        TidyRule("st(?:ands?|ood) (?:in|there|twice)", "write: is in, exists, duplicate"),
        TidyRule("let(?:s|ting)? (?:go of|through)", "write: close, admit"),
        TidyRule("left alone", "write: skipped, circuit open"),
        TidyRule("(?:comes?|came) to (?:its|their|an) end|ended", "write: finishes, completed, closed"),
        TidyRule("says?|said|tells?|told", "a program returns, reports, logs, prints"),
        TidyRule("takes (?:the |a |an |no )?(?:configuration|records?|events?|values?)", "write: accepts, consumes"),
        TidyRule("operator said so", "write: paused by NAME"),
        TidyRule("spoke of", "write: returned"),
        TidyRule("key is out", "write: the key is compromised"),
        TidyRule("see (?:below|above)", "delete it, or name the page"),
        TidyRule("(?:found|finds?|finding) out", "write: learn, detect; unknown"),
        TidyRule("of which \\S+ waits?", "write: 1 paused"),
        TidyRule("who waits?|those who wait", "write: waiting callers"),
        TidyRule("patience", "write: timeout, max wait, window"),
        TidyRule("setbacks?", "write: regression"),
        TidyRule("desks?|seats?|shel(?:f|ves)|keepers?", "name the thing, not a piece of furniture"),
        TidyRule("(?<!in )flights?", "write: in flight, or name what is pending"),
        TidyRule("a text", "write: a string"),
        TidyRule("anew", "write: again"),
    ]

    static let spelling = [
        TidyRule("(?:behavi|col|hon|fav|neighb)our\\w*", "write: -or, as in behavior"),
        TidyRule("(?:cance|labe|signa|mode|trave)ll(?:ed|ing)", "write one l, as in canceled"),
        TidyRule(
            "(?:un)?(?:organ|recogn|initial|optim|serial|normal|summar|author|synchron|real|general|special|standard"
                + "|minim|maxim|custom|priorit|canonical|final|util|visual|central|capital)is(?:e|es|ed|ing|ations?)",
            "write: -ize, as in organize"),
        TidyRule(
            "cent(?:re)s?|defence|licences?|catalogues?|grey|artefacts?|whilst|fulfil|analyse[ds]?|programmes?",
            "use the American spelling"),
    ]

    static let plurals = [
        TidyRule("\\w+\\((?:s|es)\\)", "write the plural with CountedNoun: count.of(\"event\")")
    ]

    /// A count in front of a plural, which is wrong for 1. It may follow words of a limit, because no limit is 1.
    static let count = TidyRule(
        #"(?<=\|\x20)(?<!(?:than|most|to|is|are)\x20\|{1,80}\x20)(?:(?:canary|live|dead|open|key|private|shared)\x20)?"#
            + "(?:apps|batches|brokers|bytes|challenges|characters|connections|copies|days|devices|elements|events|files"
            + "|hours|ids|lanes|letters|members|minutes|offsets|partitions|replicas|rings|rounds|rows|seconds|secrets"
            + "|streams|subjects|tokens|topics|users|values|versions|workers)(?!=)",
        "write the noun with CountedNoun: count.of(\"event\")")

    static var all: [TidyRule] { plain + spelling + plurals }

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
