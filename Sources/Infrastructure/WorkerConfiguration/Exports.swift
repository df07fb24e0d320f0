// A configuration's mistakes and durations have this wording wherever it is read.
@_exported public import YAMLReading
