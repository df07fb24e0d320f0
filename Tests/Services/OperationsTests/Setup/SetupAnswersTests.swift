import AdapterKit
import BloomreachAdapter
import BrazeAdapter
import DotdigitalAdapter
import Testing

@testable import Operations

/// Tests of the questions of a setup and of the checks of their answers.
@Suite struct SetupAnswersTests {
    static let registry = AdapterRegistry([
        .init(BrazeAdapter.self), .init(DotdigitalAdapter.self), .init(BloomreachAdapter.self),
    ])

    /// Returns the answers of someone who has no other wish, for `vendor`.
    static func standard(_ vendor: String, _ more: [(SetupQuestion, String)] = []) throws -> SetupAnswers {
        var answers = SetupAnswers(registry: registry)
        try answers.answer(.vendor, vendor)
        for (question, text) in more { try answers.answer(question, text) }
        while let question = answers.next {
            try answers.answer(question, answers.standard(for: question) ?? "")
        }
        return answers
    }

    @Test func `the questions come in their order, and each only until it is answered`() throws {
        var answers = SetupAnswers(registry: Self.registry)
        var asked: [SetupQuestion] = []
        while let question = answers.next {
            asked.append(question)
            try answers.answer(question, question == .vendor ? "braze" : answers.standard(for: question) ?? "")
        }
        #expect(asked == [.vendor, .app, .key, .brokers, .gateway])
        #expect(answers.app == "braze")
        #expect(answers.key == .generated)
        #expect(answers.brokers == "embedded:19092")
        #expect(answers.hasGateway == false)
    }

    @Test func `a vendor's required settings are asked for, and its other ones are not`() throws {
        var answers = SetupAnswers(registry: Self.registry)
        try answers.answer(.vendor, "dotdigital")
        try answers.answer(.app, "push")
        try answers.set("issuer=https://a.example?x=1")
        guard case .setting(let key) = answers.next else {
            Issue.record("no question about the audience")
            return
        }
        #expect(key.name == "audience")
        #expect(answers.settings == ["issuer": "https://a.example?x=1"])
    }

    @Test(arguments: [
        (SetupQuestion.vendor, "brase", "did you mean braze?"), (.vendor, "", "known: braze"),
        (.app, "a b", "cannot be an app's name"), (.app, "unknown", "no app can be called unknown"),
        (.brokers, "kafka", "has no port"), (.brokers, "embedded:0", "has no port from 1 to 65535"),
        (.gateway, "perhaps", "answer yes or no"),
    ])
    func `an answer that cannot be used is refused with its fix, and the question stays open`(
        _ question: SetupQuestion, _ text: String, _ words: String
    ) throws {
        var answers = SetupAnswers(registry: Self.registry)
        if question != .vendor { try answers.answer(.vendor, "braze") }
        let before = answers.next
        var mistake: SetupMistake?
        do throws(SetupMistake) { try answers.answer(question, text) } catch { mistake = error }
        #expect(mistake?.description.contains(words) == true, "\(String(describing: mistake))")
        #expect(answers.next == before)
    }

    @Test(arguments: [
        ("app_id=x", "the adapter braze has no setting \"app_id\""), ("audience", "--set is name=value"),
        ("audience=perhaps", "is no value of the setting audience"), ("audiense=true", "did you mean audience?"),
    ])
    func `a setting that the adapter does not accept is refused`(_ text: String, _ words: String) throws {
        var answers = SetupAnswers(registry: Self.registry)
        try answers.answer(.vendor, "braze")
        var mistake: SetupMistake?
        do throws(SetupMistake) { try answers.set(text) } catch { mistake = error }
        #expect(mistake?.description.contains(words) == true, "\(String(describing: mistake))")
    }
}
