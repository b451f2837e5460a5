// Time as a parameter, so that tests can hold it still. The wall clock is for what is stored and shown; how long something
// took is asked of the monotonic one, which nobody sets.

export interface Clock {
  now(): number;
  /** Milliseconds since some moment of this page or worker; it means nothing to another one. */
  monotonic(): number;
  /** Calls back after so many milliseconds unless it is cancelled before. */
  after(ms: number, call: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, call) {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
};
