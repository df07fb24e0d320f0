/// A header of a record. A name may stand several times.
public struct RecordHeader: Sendable, Equatable {
    /// The name.
    public var name: String
    /// The bytes; nil for a null value.
    public var value: [UInt8]?

    /// The header `name` with `value`.
    public init(_ name: String, _ value: [UInt8]?) {
        self.name = name
        self.value = value
    }

    /// The header `name` with `text`.
    public init(_ name: String, _ text: String) { self.init(name, Array(text.utf8)) }

    /// The value as text; nil where it is null or not UTF-8.
    public var text: String? { value.flatMap { String(validating: $0, as: UTF8.self) } }
}

extension [RecordHeader] {
    /// Returns the last value of `name`, which is the one that counts in Kafka.
    public func text(_ name: String) -> String? { last { $0.name == name }?.text }
}
