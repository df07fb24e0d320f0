/// The results of work that was done in two pieces at once where there was enough of it.
struct ParallelMap<Result: Sendable>: Sendable {
    private let first: [Result]
    private let second: [Result]

    /// A task costs some microseconds; fewer things than this are not worth one.
    private static var least: Int { 64 }

    /// `work` for each number below `count`. It must depend on its number alone.
    init(_ count: Int, _ work: @escaping @Sendable (Int) -> Result) async {
        await self.init(count, with: {}) { number, _ in work(number) }
    }

    /// The same for work with a tool that each piece has for itself.
    init<Tool>(
        _ count: Int, with tool: @escaping @Sendable () -> Tool, _ work: @escaping @Sendable (Int, Tool) -> Result
    ) async {
        guard count >= Self.least * 2 else {
            first = Self.results(0..<count, tool(), work)
            second = []
            return
        }
        async let second = Self.concurrentResults(count / 2..<count, tool, work)
        first = Self.results(0..<count / 2, tool(), work)
        self.second = await second
    }

    @concurrent
    private static func concurrentResults<Tool>(
        _ numbers: Range<Int>, _ tool: @Sendable () -> Tool, _ work: @Sendable (Int, Tool) -> Result
    ) async -> [Result] {
        results(numbers, tool(), work)
    }

    private static func results<Tool>(
        _ numbers: Range<Int>, _ tool: Tool, _ work: (Int, Tool) -> Result
    ) -> [Result] {
        numbers.map { work($0, tool) }
    }

    var indices: Range<Int> { 0..<first.count + second.count }

    /// The result of number `index`.
    subscript(index: Int) -> Result { index < first.count ? first[index] : second[index - first.count] }
}
