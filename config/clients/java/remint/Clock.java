package remint;

/** The clocks of a device, which tests move. */
interface Clock {
    /** Nanoseconds of a clock that only grows. It stops while an Android device sleeps. */
    long nanos();

    /** Milliseconds since 1970. The user can set this clock. */
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
