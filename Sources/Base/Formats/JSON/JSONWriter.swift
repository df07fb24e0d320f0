/// Writes JSON straight to bytes, members in the order they are given.
///
/// The writer places commas and escapes strings; that every object is closed and every name has one value is up to
/// the caller.
public struct JSONWriter: Sendable {
    /// The bytes that were written so far.
    public private(set) var bytes: [UInt8]
    private var needsComma = false

    /// A writer with room for `capacity` bytes before it has to grow.
    public init(capacity: Int = 256) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    /// Removes everything that was written, and keeps the capacity.
    public mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        needsComma = false
    }

    /// Opens an object.
    public mutating func beginObject() { open(UInt8(ascii: "{")) }
    /// Closes the object opened last.
    public mutating func endObject() { close(UInt8(ascii: "}")) }
    /// Opens an array.
    public mutating func beginArray() { open(UInt8(ascii: "[")) }
    /// Closes the array opened last.
    public mutating func endArray() { close(UInt8(ascii: "]")) }

    /// Names the member whose value comes next.
    public mutating func name(_ name: String) {
        separate()
        quote(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Returns a name as it precedes its value, for members that are written many times.
    public static func encoded(name: String) -> [UInt8] {
        var writer = JSONWriter(capacity: name.utf8.count + 3)
        writer.name(name)
        return writer.bytes
    }

    /// Writes a string.
    public mutating func string(_ value: String) {
        separate()
        quote(value)
        needsComma = true
    }

    /// Writes ASCII that needs no escape (a compact token, base64url) as a string, without looking at it.
    public mutating func unescapedString(_ value: [UInt8]) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: value)
        bytes.append(UInt8(ascii: "\""))
        needsComma = true
    }

    /// Writes an integer.
    public mutating func integer(_ value: Int64) {
        separate()
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            guard let target = digits.baseAddress else { return }
            let count = unsafe Decimal.write(value, to: target)
            unsafe bytes.append(contentsOf: digits[..<count])
        }
        needsComma = true
    }

    /// Writes `true` or `false`.
    public mutating func bool(_ value: Bool) { raw(value ? "true" : "false") }

    /// Writes `null`.
    public mutating func null() { raw("null") }

    /// Writes `json`, which must be one JSON value, as it is.
    public mutating func raw(_ json: String) {
        separate()
        bytes.append(contentsOf: json.utf8)
        needsComma = true
    }

    /// Writes `json`, which must be one JSON value, as it is.
    public mutating func raw(_ json: [UInt8]) {
        separate()
        bytes.append(contentsOf: json)
        needsComma = true
    }

    /// Writes a string member.
    public mutating func member(_ name: String, _ value: String) {
        self.name(name)
        string(value)
    }

    /// Writes an integer member.
    public mutating func member(_ name: String, _ value: Int64) {
        self.name(name)
        integer(value)
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
    }

    private mutating func open(_ bracket: UInt8) {
        separate()
        bytes.append(bracket)
        needsComma = false
    }

    private mutating func close(_ bracket: UInt8) {
        bytes.append(bracket)
        needsComma = true
    }

    private mutating func quote(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { utf8 in
            if unsafe JSONText.isPlain(utf8) {
                unsafe bytes.append(contentsOf: utf8)
            } else {
                bytes.append(contentsOf: unsafe JSONText.escaped(utf8))
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
