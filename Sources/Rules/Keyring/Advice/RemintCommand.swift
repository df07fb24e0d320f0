/// A command of this program as a message names it, complete: it runs as printed.
///
/// The message may come from a part of the program that knows nothing of the command line. So the configuration and the
/// key ring come from the command that runs (`invocation`).
package struct RemintCommand: Sendable, CustomStringConvertible {
    /// The options of the command that runs, which the commands that it prints need as well.
    package struct Invocation: Sendable {
        /// The configuration's file; nil where there is none.
        package var config: String?
        /// The key ring that the operator named; nil where the configuration has only one.
        package var ring: String?
        /// The brokers that the operator named instead of the configured ones.
        package var brokers: String?
        /// The commands that accept `--brokers`, such as `rotate status`.
        package var brokered: Set<String>

        /// The options `config`, `ring` and `brokers`, the latter for the commands `brokered`.
        package init(
            config: String? = nil, ring: String? = nil, brokers: String? = nil, brokered: Set<String> = []
        ) {
            self.brokered = brokered
            self.config = config
            self.ring = ring
            self.brokers = brokers
        }
    }

    /// The options of the command that runs; none in a worker and in tests.
    @TaskLocal package static var invocation = Invocation()

    private let verb: String
    private let ring: String?
    private let arguments: [String]

    /// The command `verb`, such as `rotate promote`, with `arguments`.
    ///
    /// - Parameter ring: the key ring, where it need not be the one of the command that runs.
    package init(_ verb: String, ring: String? = nil, _ arguments: String...) {
        self.init(verb, ring: ring, arguments: arguments)
    }

    /// The command `verb` with `arguments`, of `ring`.
    package init(_ verb: String, ring: String? = nil, arguments: [String]) {
        self.verb = verb
        self.ring = ring
        self.arguments = arguments
    }

    /// The command as a shell accepts it.
    package var description: String {
        let invocation = Self.invocation
        let isOfRing = verb.hasPrefix("rotate ") || verb.hasPrefix("keys ")
        var words: [String] = []
        if let ring { words += ["--key", ring] }
        words += arguments
        if ring == nil, isOfRing, let ring = invocation.ring { words += ["--key", ring] }
        if let config = invocation.config { words += ["--config", config] }
        let name = verb.split(separator: " ").prefix { !$0.hasPrefix("-") }.joined(separator: " ")
        if let brokers = invocation.brokers, invocation.brokered.contains(name) { words += ["--brokers", brokers] }
        return (["remint \(verb)"] + words.map(Self.quoted)).joined(separator: " ")
    }

    /// Returns `word` as one word of a shell's line.
    package static func quoted(_ word: String) -> String {
        let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@%+=,".unicodeScalars)
        guard word.isEmpty || !word.unicodeScalars.allSatisfy(plain.contains) else { return word }
        return "'\(word.replacing("'", with: #"'\''"#))'"
    }
}
