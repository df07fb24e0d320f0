extension StringProtocol where SubSequence == Substring {
    /// Returns the log lines with the id `event`, of a log in text or JSON. A line that is not complete yet is none.
    package func logLines(_ event: String) -> [Substring] {
        let (text, json) = ("remint.event=\(event)", "\"remint.event\":\"\(event)\"")
        guard contains(text) || contains(json), let end = lastIndex(of: "\n") else { return [] }
        return self[...end].split(separator: "\n").filter {
            $0.contains("\(text) ") || $0.hasSuffix(text) || $0.contains(json)
        }
    }
}
