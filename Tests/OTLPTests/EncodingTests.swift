import Formats
import Testing

@testable import OTLP

@Suite struct EncodingTests {}
