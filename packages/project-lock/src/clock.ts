// Time as a parameter, so that tests can hold it still. The wall clock is the one that all tabs of a browser share.

export interface Clock {
  now(): number;
  /** Calls back after so many milliseconds unless it is cancelled before. */
  after(ms: number, call: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, call) {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
};
