extension Span<UInt8> {
    /// Returns whether both are the same bytes. Compares eight at a time; not in constant time, so for no secret.
    package func hasSameBytes(as other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        return unsafe withUnsafeBytes { left in
            unsafe other.withUnsafeBytes { right in
                var at = 0
                while left.count &- at >= 8 {
                    let here = unsafe left.loadUnaligned(fromByteOffset: at, as: UInt64.self)
                    guard unsafe here == right.loadUnaligned(fromByteOffset: at, as: UInt64.self) else { return false }
                    at &+= 8
                }
                while at < left.count {
                    guard unsafe left[at] == right[at] else { return false }
                    at &+= 1
                }
                return true
            }
        }
    }
}
