/// Parses one text after another, in the memory of the text before once nobody refers to its values any more.
///
/// Not `Sendable`: one per thread.
package final class JSONReader {
    private var document = JSONDocument()

    /// A reader that has read nothing yet.
    package init() {}

    /// Parses the range `text` of `bytes` as one JSON text, without a copy. See `JSONDocument.init(parsing:in:limits:)`.
    package func parse(
        _ bytes: [UInt8], in text: Range<Int>, limits: JSONDocument.Limits
    ) throws(JSONError) -> JSONValue {
        if !isKnownUniquelyReferenced(&document) { document = JSONDocument() }
        try document.parse(bytes, in: text, limits)
        return document.root
    }
}
