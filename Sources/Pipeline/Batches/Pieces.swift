/// The results of work that was done in two pieces at once where there was enough of it.
struct Pieces<Result: Sendable>: Sendable {
    private let first: [Result]
    private let second: [Result]

    /// A task costs some microseconds; fewer things than this are not worth one.
    private static var least: Int { 64 }

    /// `work` for each number below `count`. It must depend on its number alone.
    init(_ count: Int, _ work: @escaping @Sendable (Int) -> Result) async {
        guard count >= Self.least * 2 else {
            first = (0..<count).map(work)
            second = []
            return
        }
        async let second = Self.results(count / 2..<count, work)
        first = (0..<count / 2).map(work)
        self.second = await second
    }

    @concurrent
    private static func results(_ numbers: Range<Int>, _ work: @Sendable (Int) -> Result) async -> [Result] {
        numbers.map(work)
    }

    var indices: Range<Int> { 0..<first.count + second.count }

    /// The result of number `index`.
    subscript(index: Int) -> Result { index < first.count ? first[index] : second[index - first.count] }
}
