// Does one thing so many times and prints nothing: valgrind counts what it takes. What the hot path consists of and nothing
// else is linked, so that it is built in a minute.
//
//     instructions mint ALGORITHM KEYFILE COUNT
//     instructions decode VENDOR COUNT
//
// ALGORITHM and VENDOR may be the path of a vendor's file: what it costs that a vendor is declared and not compiled.

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
            for loop in try DecodeLoop.all(of: vendor.registration, tests.fixtures()) { try loop.work(count) }
            return
        }
        guard let count = Int(arguments[2]),
            let registration = AdapterRegistry.remint.registrations.first(where: { $0.name == arguments[1] })
        else { throw BenchFailed("there is no such vendor, or COUNT is no number") }
        for loop in try DecodeLoop.all(of: registration) { try loop.work(count) }
    default: throw BenchFailed("instructions mint ALGORITHM KEYFILE COUNT | instructions decode VENDOR COUNT")
    }
}

try run(Array(CommandLine.arguments.dropFirst()))
