/// The rules of Kafka for a topic's name.
enum TopicName {
    /// Returns whether `name` has up to 249 letters, digits, dots, underscores and hyphens, and is not a path's `.` or
    /// `..`.
    static func isValid(_ name: String) -> Bool {
        ![".", ".."].contains(name) && 1...249 ~= name.utf8.count
            && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) }
    }
}
