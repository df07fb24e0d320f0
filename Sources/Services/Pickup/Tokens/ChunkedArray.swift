/// An array that grows by pieces of one size: growth copies nothing, and at most one piece is unused.
struct ChunkedArray<Element: Sendable>: Sendable {
    /// The number of elements of a piece.
    static var piece: Int { 256 }

    private var pieces: [ContiguousArray<Element>] = []
    private(set) var count = 0

    /// The number of elements for which memory is allocated.
    var capacity: Int { pieces.count * Self.piece }

    subscript(index: UInt32) -> Element {
        get { pieces[Int(index) / Self.piece][Int(index) % Self.piece] }
        _modify { yield &pieces[Int(index) / Self.piece][Int(index) % Self.piece] }
    }

    /// Appends `element`.
    mutating func append(_ element: Element) {
        if count == capacity {
            var piece = ContiguousArray<Element>()
            piece.reserveCapacity(Self.piece)
            pieces.append(piece)
        }
        pieces[pieces.count - 1].append(element)
        count += 1
    }
}
