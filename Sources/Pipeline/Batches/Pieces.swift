/// Work that is done in two pieces at once where there is enough of it.
enum Pieces {
    /// A task costs some microseconds; fewer things than this are not worth one.
    private static let least = 64

    /// `transform` of each of `items`, in their order. It must depend on its item alone.
    static func map<Item: Sendable, Result: Sendable>(
        _ items: [Item], _ transform: @escaping @Sendable (Item) -> Result
    ) async -> [Result] {
        guard items.count >= least * 2 else { return items.map(transform) }
        let middle = items.count / 2
        async let second = Self.map(items[middle...], transform)
        let first = items[..<middle].map(transform)
        return await first + second
    }

    @concurrent
    private static func map<Item: Sendable, Result: Sendable>(
        _ items: ArraySlice<Item>, _ transform: @Sendable (Item) -> Result
    ) async -> [Result] { items.map(transform) }
}
