/// A JSON text, checked once and indexed without building a tree.
///
/// The parser walks the bytes once, iteratively, and records the place of each value in one flat array. Values are read
/// from the bytes on demand. Duplicate members are refused, because two readers may disagree on which one counts.
///
/// `@unchecked Sendable`: nothing in it changes, except that a `JSONReader` parses its next text into a document that
/// nobody else refers to. The reader checks that (`isKnownUniquelyReferenced`), and is itself not `Sendable`.
public final class JSONDocument: @unchecked Sendable {
    /// The limits over which the parser refuses JSON, before it costs anything.
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
        package enum Kind: UInt8 { case object, array, string, number, `true`, `false`, null }

        let kind: Kind
        /// A string with an escape in it must be decoded; any other is its own bytes.
        var isEscaped = false
        /// The value's bytes; for a string, without the quotation marks.
        let start: Int32
        var end: Int32
        /// The index of the first node that is not inside this one.
        var next: Int32
    }

    /// The parsed bytes, with the nodes found in them.
    private struct Text {
        var bytes: [UInt8] = []
        var start = 0
        var nodes: [Node] = []
    }

    // It changes only while nobody else refers to the document, so a check of each access would find nothing.
    @exclusivity(unchecked) private var text = Text()

    package var bytes: [UInt8] { unsafe text.bytes }
    /// The place in `bytes` at which the text begins.
    package var start: Int { unsafe text.start }
    var nodes: [Node] { unsafe text.nodes }

    /// An empty document, for a `JSONReader` to fill.
    init() {}

    /// Parses the whole of `bytes` as one JSON text.
    public convenience init(parsing bytes: [UInt8], limits: Limits = Limits()) throws(JSONError) {
        try self.init(parsing: bytes, in: bytes.indices, limits: limits)
    }

    /// Parses the range `text` of `bytes` as one JSON text, without a copy. Its limits, and the places in errors, refer
    /// to that text.
    public init(parsing bytes: [UInt8], in text: Range<Int>, limits: Limits = Limits()) throws(JSONError) {
        try parse(bytes, in: text, limits)
    }

    /// Parses the range `text` of `bytes` in the place of the text before.
    func parse(_ bytes: [UInt8], in text: Range<Int>, _ limits: Limits) throws(JSONError) {
        var before = Text()
        unsafe swap(&before, &self.text)
        var parser = JSONParser(bytes, in: text, limits, reusing: &before.nodes)
        try parser.parse()
        unsafe self.text = Text(bytes: bytes, start: text.lowerBound, nodes: parser.nodes)
    }

    /// The document's value.
    public var root: JSONValue { JSONValue(document: self, index: 0) }

    /// Returns the node of the member `name`, where the node `index` is an object that has one.
    ///
    /// It is here and not in `JSONValue`: a report is asked for a dozen names, and each access to the arrays from there
    /// would count as another owner of them.
    package func member(_ name: UnsafeBufferPointer<UInt8>, of index: Int) -> Int? {
        unsafe text.nodes.withUnsafeBufferPointer { nodes in
            guard unsafe nodes[index].kind == .object else { return nil }
            let end = unsafe Int(nodes[index].next)
            var at = index + 1
            while at < end {
                if unsafe isNamed(nodes[at], name) { return at + 1 }
                at = unsafe Int(nodes[at + 1].next)
            }
            return nil
        }
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
