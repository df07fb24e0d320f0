package remint;

/** The clocks of a device. Tests replace them. */
interface Clock {
    /** Returns the nanoseconds of a clock that only grows. The clock stops while an Android device sleeps. */
    long nanos();

    /** Returns the milliseconds since 1970. The user can set this clock. */
    long millis();

    /** The system's clocks. */
    Clock SYSTEM = new Clock() {
        @Override
        public long nanos() {
            return System.nanoTime();
        }

        @Override
        public long millis() {
            return System.currentTimeMillis();
        }
    };
}
