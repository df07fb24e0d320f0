/// A JSON text, checked once and indexed without building a tree.
///
/// The parser walks the bytes once, iteratively, and records the place of each value in one flat array. Values are read
/// from the bytes on demand. Duplicate members are refused, because two readers may disagree on which one counts.
public final class JSONDocument: Sendable {
    /// The limits over which a text is refused, before it costs anything.
    public struct Limits: Sendable {
        /// The longest text, in bytes.
        public var bytes: Int
        /// The most containers inside one another.
        public var depth: Int
        /// Permission for an object to name a member twice, as long as the reader of that object looks for duplicates.
        package var allowsDuplicates = false

        /// Limits of `bytes` bytes and `depth` levels.
        public init(bytes: Int = 1 << 20, depth: Int = 32) {
            self.bytes = min(bytes, Int(Int32.max))
            self.depth = depth
        }
    }

    package struct Node {
        enum Kind: UInt8 { case object, array, string, number, `true`, `false`, null }

        let kind: Kind
        /// A string with an escape in it must be decoded; any other is its own bytes.
        var isEscaped = false
        /// The value's bytes; for a string, without the quotation marks.
        let start: Int32
        var end: Int32
        /// The index of the first node that is not inside this one.
        var next: Int32
    }

    package let bytes: [UInt8]
    /// The place in `bytes` at which the text begins.
    package let start: Int
    let nodes: [Node]

    /// Parses the whole of `bytes` as one JSON text.
    public convenience init(parsing bytes: [UInt8], limits: Limits = Limits()) throws(JSONError) {
        try self.init(parsing: bytes, in: bytes.indices, limits: limits)
    }

    /// Parses the range `text` of `bytes` as one JSON text, without a copy. Its limits, and the places in errors, refer
    /// to that text.
    public init(parsing bytes: [UInt8], in text: Range<Int>, limits: Limits = Limits()) throws(JSONError) {
        var parser = JSONParser(bytes, in: text, limits)
        try parser.parse()
        self.bytes = bytes
        start = text.lowerBound
        nodes = parser.nodes
    }

    /// The document's value.
    public var root: JSONValue { JSONValue(document: self, index: 0) }

    /// Returns the node of the member `name`, where the node `index` is an object that has one.
    ///
    /// It is here and not in `JSONValue`: a report is asked for a dozen names, and each access to the arrays from there
    /// would count as another owner of them.
    package func member(_ name: UnsafeBufferPointer<UInt8>, of index: Int) -> Int? {
        guard nodes[index].kind == .object else { return nil }
        let end = Int(nodes[index].next)
        var at = index + 1
        while at < end {
            if unsafe isNamed(nodes[at], name) { return at + 1 }
            at = Int(nodes[at + 1].next)
        }
        return nil
    }

    /// A member's name or value, by its place in `bytes`.
    package struct Part: Sendable {
        /// The place; for a string, without its quotation marks.
        package let place: Range<Int>
        /// The bytes of a string with escapes; nil for a string without them, and for any other value.
        package let decoded: [UInt8]?
        /// Whether it is a string.
        package let isString: Bool
        /// Whether it is a number.
        package let isNumber: Bool
        /// The index of the value's node.
        package let index: Int

        init(_ node: Node, at index: Int, in bytes: [UInt8]) {
            place = Int(node.start)..<Int(node.end)
            decoded = node.isEscaped ? Array(JSONValue.text(of: node, in: bytes).utf8) : nil
            isString = node.kind == .string
            isNumber = node.kind == .number
            self.index = index
        }
    }

    /// Calls `body` with the name and the value of each member, in the order of the text, where the node `index` is an
    /// object. It copies only strings with escapes, for readers of millions of texts of one form.
    package func forEachMember(of index: Int = 0, _ body: (_ name: Part, _ value: Part) -> Void) {
        guard nodes[index].kind == .object else { return }
        let end = Int(nodes[index].next)
        var at = index + 1
        while at < end {
            body(Part(nodes[at], at: at, in: bytes), Part(nodes[at + 1], at: at + 1, in: bytes))
            at = Int(nodes[at + 1].next)
        }
    }

    private func isNamed(_ node: Node, _ wanted: UnsafeBufferPointer<UInt8>) -> Bool {
        if node.isEscaped { return unsafe JSONValue.text(of: node, in: bytes).utf8.elementsEqual(wanted) }
        guard Int(node.end - node.start) == wanted.count else { return false }
        for index in 0..<wanted.count where unsafe bytes[Int(node.start) + index] != wanted[index] { return false }
        return true
    }
}
