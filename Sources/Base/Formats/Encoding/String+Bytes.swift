extension String {
    /// Returns whether both have the same bytes. `==` compares canonical equivalence, which is too tolerant for an id.
    public func hasSameBytes(as other: String?) -> Bool {
        guard let other else { return false }
        return utf8.elementsEqual(other.utf8)
    }
}
