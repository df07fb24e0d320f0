/// The rule for `name` of a vendor's file.
enum VendorName {
    private static let longest = 40

    /// Returns whether `name` consists of small letters, digits and hyphens, and begins with no hyphen.
    static func isValid(_ name: String) -> Bool {
        guard let first = name.utf8.first, name.utf8.count <= longest, first != UInt8(ascii: "-") else { return false }
        return name.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
        }
    }
}
