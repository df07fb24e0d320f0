import ArgumentParser

struct BenchWorker: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "worker", abstract: "")
    func run() async throws {}
}
