import AdapterKit
import ArgumentParser
import Operations
import Vendors
import WorkerConfiguration

extension InitCommand {
    /// Returns the answers of the options, of the person at the terminal and, without a terminal, the standard ones.
    ///
    /// - Parameter configuration: the configuration to which the app is added; nil for a new one.
    /// - Throws: `ValidationError` that names the missing option.
    func answered(adding configuration: Configuration?) throws -> SetupAnswers {
        var answers = SetupAnswers(registry: .remint)
        if let configuration { answers.add(toBrokers: configuration.kafka.bootstrapServers) }
        do throws(SetupMistake) { try note(&answers) } catch { throw ValidationError("\(error)") }
        while let question = answers.next {
            if Terminal.isInteractive {
                try ask(question, &answers)
            } else if let standard = answers.standard(for: question) {
                try answers.answer(question, standard)
            } else {
                throw ValidationError("\(question.option) is missing (\(question.words))")
            }
        }
        return answers
    }

    /// Notes the answers that options give.
    private func note(_ answers: inout SetupAnswers) throws(SetupMistake) {
        if let vendor { try answers.answer(.vendor, vendor) }
        for setting in settings { try answers.set(setting) }
        if let app { try answers.answer(.app, app) }
        if generate { try answers.answer(.key, "") }
        if let imported { try answers.answer(.key, imported) }
        if let brokers { try answers.answer(.brokers, brokers) }
        if gateway || ownEdge { try answers.answer(.gateway, gateway ? "yes" : "no") }
    }

    /// Asks once. After an answer that cannot be used, the question is still open.
    ///
    /// - Throws: `ValidationError` at the end of the input.
    private func ask(_ question: SetupQuestion, _ answers: inout SetupAnswers) throws {
        let standard = answers.standard(for: question)
        let hint = standard.map { " [\($0)]" } ?? ""
        guard let line = Terminal.ask("\(question.words)\(hint): ") else {
            throw ValidationError("no answer; give it with \(question.option)")
        }
        let text = line.split(separator: " ").joined(separator: " ")
        do throws(SetupMistake) { try answers.answer(question, text.isEmpty ? standard ?? "" : text) } catch {
            Terminal.error("\(error)")
        }
    }
}
