/// The results of work that runs in several concurrent chunks if there is enough of it.
package struct ParallelMap<Result: Sendable>: Sendable {
    private var chunks: [[Result]]
    /// The number of results in a chunk; the last chunk may have fewer.
    private let size: Int

    /// The minimum size of a chunk. A task costs some microseconds, more than the work of a smaller chunk.
    private static var least: Int { 64 }

    /// Runs `work` for each index below `count`, in at most `chunks` chunks. The result must depend on the index only.
    package init(_ count: Int, chunks: Int, _ work: @escaping @Sendable (Int) -> Result) async {
        await self.init(count, chunks: chunks, with: {}) { number, _ in work(number) }
    }

    /// Runs `work` with a tool that each chunk creates for itself.
    init<Tool>(
        _ count: Int, chunks wanted: Int, with tool: @escaping @Sendable () -> Tool,
        _ work: @escaping @Sendable (Int, Tool) -> Result
    ) async {
        let number = max(1, min(wanted, count / Self.least))
        let size = max(1, (count + number - 1) / number)
        self.size = size
        guard number > 1 else {
            chunks = [Self.results(0..<count, tool(), work)]
            return
        }
        chunks = await withTaskGroup(of: (Int, [Result]).self) { group in
            for chunk in 1..<number {
                let range = min(count, chunk * size)..<min(count, (chunk + 1) * size)
                group.addTask { (chunk, Self.results(range, tool(), work)) }
            }
            var chunks = Array(repeating: [Result](), count: number)
            // This task runs the first chunk while the other tasks run theirs.
            chunks[0] = Self.results(0..<size, tool(), work)
            for await (chunk, results) in group { chunks[chunk] = results }
            return chunks
        }
    }

    private static func results<Tool>(
        _ numbers: Range<Int>, _ tool: Tool, _ work: (Int, Tool) -> Result
    ) -> [Result] {
        numbers.map { work($0, tool) }
    }

    var indices: Range<Int> { 0..<chunks.reduce(0) { $0 + $1.count } }

    /// Returns the result at `index`.
    package subscript(index: Int) -> Result { chunks[index / size][index % size] }
}
