// Does one thing a given number of times and prints nothing: valgrind counts the instructions. What the hot path
// consists of and nothing else is linked, so that it is built in a minute.
//
//     instructions mint ALGORITHM KEYFILE COUNT
//     instructions decode VENDOR COUNT
//     instructions event OUTCOME ALGORITHM COUNT
//
// An event's way is decode, admit, mint and settle, without a signature; COUNT is a multiple of 500, which is a batch.
// ALGORITHM of mint and VENDOR may be the path of a vendor's file: what it costs that a vendor is declared and not compiled.

import AdapterKit
import Bench
import DeclaredAdapters
import DeclaredTesting
import Foundation
import Vendors

/// Returns the vendor in the file `path`; nil for anything else.
func declared(_ path: String) throws -> DeclaredVendor? {
    guard path.hasSuffix(".yaml") else { return nil }
    guard let text = try? String(contentsOfFile: path, encoding: .utf8),
        let vendor = DeclaredVendor.load(text, file: path).vendor
    else { throw BenchFailed("\(path) cannot be used; see remint adapter lint") }
    return vendor
}

func run(_ arguments: [String]) throws {
    switch (arguments.first, arguments.count) {
    case ("mint", 4):
        guard let count = Int(arguments[3]) else { throw BenchFailed("COUNT is a number") }
        let app = try declared(arguments[1]).map { vendor in
            BenchApp(minting: try vendor.adapter(settings: vendor.tests?.apps.first?.settings ?? Array("{}".utf8)))
        }
        try MintLoop(app ?? BenchApp(arguments[1]), key: arguments[2] == "-" ? nil : arguments[2]).work()(count)
    case ("decode", 3):
        if let vendor = try declared(arguments[1]), let tests = vendor.tests, let count = Int(arguments[2]) {
            for loop in try DecodeLoop.all(of: vendor.registration, tests.fixtures()) { try loop(count) }
            return
        }
        guard let count = Int(arguments[2]), let registration = AdapterRegistry.remint[arguments[1]] else {
            throw BenchFailed("there is no such vendor, or COUNT is no number")
        }
        for loop in try DecodeLoop.all(of: registration) { try loop(count) }
    case ("event", 4):
        guard let kind = EventCourse.Kind(rawValue: arguments[1]), let count = Int(arguments[3]) else {
            throw BenchFailed("OUTCOME is minted, superseded or deferred, and COUNT is a number")
        }
        // Fewer subjects are remembered than come, so that each of them is a new one again.
        let subjects = kind == .superseded ? 1 : 1000
        let time = UnixTime(seconds: 1_790_000_000)
        let app = try BenchApp(arguments[2])
        try CallingThread().run {
            let course = EventCourse(kind, of: app, subjects: subjects) { time }
            try await course.rerun(count)
        }
    default:
        throw BenchFailed(
            "instructions mint ALGORITHM KEYFILE COUNT | decode VENDOR COUNT | event OUTCOME ALGORITHM COUNT")
    }
}

try run(Array(CommandLine.arguments.dropFirst()))
