// Time that stands still until a test moves it. `advance` lets timers fire on the way; `jump` is a frozen tab: the time
// is gone, and nothing happened meanwhile; `set` is somebody who sets the wall clock, which no timer notices.

import type { Clock } from '../../src/clock.js';

/** More than any chain of messages and file calls between two timers has links. */
const TURNS = 12;

interface Timer {
  readonly at: number;
  readonly call: () => void;
}

export class FakeClock implements Clock {
  #wall = 1_767_225_600_000;
  #now = 5_000;
  #timers = new Set<Timer>();

  now(): number {
    return this.#wall + this.#now;
  }

  monotonic(): number {
    return this.#now;
  }

  after(ms: number, call: () => void): () => void {
    // As in browsers, where it would not wait at all.
    if (!(ms < 2 ** 31)) throw new RangeError(`${ms} ms are too long for a timer`);
    const timer = { at: this.#now + ms, call };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** How many timers wait. */
  get timers(): number {
    return this.#timers.size;
  }

  jump(ms: number): void {
    this.#now += ms;
  }

  set(ms: number): void {
    this.#wall += ms;
  }

  /** Moves on timer by timer, and lets everything that each one starts come to its end. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settle();
    for (let next = this.#first(end); next; next = this.#first(end)) {
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.call();
      await settle();
    }
    this.#now = end;
  }

  #first(end: number): Timer | undefined {
    return [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
  }
}

/** Lets all promises that can go on go on. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) await new Promise((done) => setImmediate(done));
}
