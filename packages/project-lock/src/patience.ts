// How long an acquisition waits and how often it asks again. Numbers from callers are made harmless here, once.

import type { Clock } from './clock.js';
import type { LockRetryPolicy, ProjectLockAcquireOptions } from './types.js';

const MAX_WAIT_MS = 5000;
const POLICY: LockRetryPolicy = { initialDelayMs: 200, maxDelayMs: 5000, multiplier: 2, maxAttempts: Infinity };
/** Timers count in 31 bits, and a longer one would fire at once. Half of that leaves room for what is added. */
const LONGEST_TIMER_MS = 2 ** 30;

export class Patience {
  /** The attempt that is being made, from 1. */
  attempt = 1;
  readonly #clock: Clock;
  readonly #policy: LockRetryPolicy;
  readonly #end: number;

  constructor(clock: Clock, { maxWaitMs, retryPolicy }: ProjectLockAcquireOptions) {
    this.#clock = clock;
    this.#policy = { ...POLICY, ...retryPolicy };
    this.#end = clock.monotonic() + atLeastZero(maxWaitMs ?? MAX_WAIT_MS);
  }

  get leftMs(): number {
    return Math.min(LONGEST_TIMER_MS, Math.max(0, this.#end - this.#clock.monotonic()));
  }

  /** Before the next attempt; null if there is none. The last one is made when the time is up. */
  nextDelayMs(): number | null {
    const { initialDelayMs, maxDelayMs, multiplier, maxAttempts } = this.#policy;
    if (this.leftMs <= 0 || this.attempt >= maxAttempts) return null;
    return Math.min(atLeastZero(Math.min(maxDelayMs, initialDelayMs * multiplier ** (this.attempt - 1))), this.leftMs);
  }
}

function atLeastZero(ms: number): number {
  return ms > 0 ? ms : 0;
}
