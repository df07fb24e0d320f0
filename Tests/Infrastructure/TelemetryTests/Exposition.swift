/// Prometheus' text format (version 0.0.4), read as strictly as a scraper could.
struct Exposition {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    struct Sample: Equatable {
        let name: String
        let labels: [String: String]
        let value: Double
    }

    struct Family {
        let type: String
        let help: String
        var samples: [Sample] = []
    }

    private(set) var families: [String: Family] = [:]
    private var open: String?

    init(_ text: String) throws(Failure) {
        guard text.isEmpty || text.hasSuffix("\n") else { throw Failure(description: "the last line has no end") }
        var help: (name: String, text: String)?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            let words = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
            if line.hasPrefix("# HELP ") {
                guard words.count == 4 else { throw Failure(description: "no help: \(line)") }
                help = (words[2], words[3])
            } else if line.hasPrefix("# TYPE ") {
                guard words.count == 4, let told = help, told.name == words[2], families[words[2]] == nil else {
                    throw Failure(description: "a type without its help, or twice: \(line)")
                }
                guard ["counter", "gauge", "histogram"].contains(words[3]) else {
                    throw Failure(description: "an unknown type: \(line)")
                }
                families[words[2]] = Family(type: words[3], help: told.text)
                open = words[2]
                help = nil
            } else {
                try add(sample(String(line)))
            }
        }
    }

    private mutating func add(_ sample: Sample) throws(Failure) {
        guard let open, let family = families[open] else { throw Failure(description: "no family: \(sample)") }
        let suffixes = family.type == "histogram" ? ["_bucket", "_sum", "_count"] : [""]
        guard suffixes.contains(where: { sample.name == open + $0 }) else {
            throw Failure(description: "\(sample.name) is in \(open)")
        }
        guard !family.samples.contains(where: { $0.name == sample.name && $0.labels == sample.labels }) else {
            throw Failure(description: "twice: \(sample)")
        }
        families[open]?.samples.append(sample)
    }

    private func sample(_ line: String) throws(Failure) -> Sample {
        var rest = Substring(line)
        let name = rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == ":") }
        guard let first = name.first, !first.isNumber else { throw Failure(description: "no name: \(line)") }
        rest = rest.dropFirst(name.count)
        var labels: [String: String] = [:]
        if rest.first == "{" {
            rest = rest.dropFirst()
            while true {
                let label = rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
                rest = rest.dropFirst(label.count)
                guard !label.isEmpty, rest.hasPrefix("=\"") else { throw Failure(description: "no label: \(line)") }
                rest = rest.dropFirst(2)
                guard labels.updateValue(try quoted(&rest), forKey: String(label)) == nil else {
                    throw Failure(description: "a label twice: \(line)")
                }
                guard let mark = rest.popFirst(), mark == "," || mark == "}" else {
                    throw Failure(description: "labels do not end: \(line)")
                }
                if mark == "}" { break }
            }
        }
        guard rest.popFirst() == " ", !rest.contains(" "), let value = Self.number(rest) else {
            throw Failure(description: "no value: \(line)")
        }
        return Sample(name: String(name), labels: labels, value: value)
    }

    private func quoted(_ rest: inout Substring) throws(Failure) -> String {
        var text = ""
        while let character = rest.unicodeScalars.popFirst() {
            switch character {
            case "\"": return text
            case "\\":
                switch rest.unicodeScalars.popFirst() {
                case "\\": text += "\\"
                case "\"": text += "\""
                case "n": text += "\n"
                default: throw Failure(description: "an unknown escape")
                }
            default: text.unicodeScalars.append(character)
            }
        }
        throw Failure(description: "a value does not end")
    }

    private static func number(_ text: Substring) -> Double? {
        switch text {
        case "+Inf": .infinity
        case "-Inf": -.infinity
        case "NaN": .nan
        default: text.allSatisfy { $0.isASCII && ($0.isNumber || "+-.eE".contains($0)) } ? Double(text) : nil
        }
    }

    /// The value of a sample; nil where there is none.
    func value(_ name: String, _ labels: [String: String] = [:]) -> Double? {
        families.values.flatMap(\.samples).first { $0.name == name && $0.labels == labels }?.value
    }
}
