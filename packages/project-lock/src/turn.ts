// One place in the queue for the Web Lock. It is kept for as long as an acquisition goes on, so that backing off costs
// nobody the turn, and the browser passes the lock on at once when a tab lets go or dies.

import type { Clock } from './clock.js';

export type LockManagerLike = Pick<LockManager, 'request'>;

/** `taken`: another tab has it. `unavailable`: never here. `failed`: not this time. */
export type TurnState = 'waiting' | 'granted' | 'taken' | 'unavailable' | 'failed';

const NAME = 'holdfast:project';

export class Turn {
  state: TurnState = 'waiting';
  /** When the lock was granted. */
  since: number | null = null;
  error: unknown;
  /** When it is not waiting any more. */
  readonly settled: Promise<void>;
  readonly #clock: Clock;
  readonly #abort = new AbortController();
  #settle: () => void = () => undefined;
  #letGo: () => void = () => undefined;
  #gone = false;
  #lost: () => void = () => undefined;

  /** Lines up, or only looks whether the lock is free. */
  constructor(locks: LockManagerLike | null, clock: Clock, lineUp: boolean) {
    this.#clock = clock;
    this.settled = new Promise((settle) => (this.#settle = settle));
    if (locks) this.#request(locks, lineUp);
    else this.#end('unavailable');
  }

  /** Whom to tell if the lock is taken away after it was granted. */
  onLost(lost: () => void): void {
    if (this.state === 'granted') this.#lost = lost;
    else lost();
  }

  /** Leaves the queue, or lets go of the lock. */
  leave(): void {
    this.#gone = true;
    this.#abort.abort();
    this.#letGo();
  }

  #request(locks: LockManagerLike, lineUp: boolean): void {
    // A request that only looks cannot be given a signal; it does not need one.
    const options: LockOptions = lineUp ? { signal: this.#abort.signal } : { ifAvailable: true };
    try {
      locks.request(NAME, options, (lock) => this.#granted(lock)).then(undefined, (error) => this.#refused(error));
    } catch (error) {
      this.#refused(error);
    }
  }

  #granted(lock: unknown): Promise<void> | void {
    if (!lock) return this.#end('taken');
    if (this.#gone) return;
    const held = new Promise<void>((letGo) => (this.#letGo = letGo));
    this.since = this.#clock.now();
    this.#end('granted');
    return held;
  }

  #refused(error: unknown): void {
    if (this.#gone) return;
    const name = (error as { name?: unknown } | null)?.name;
    const stolen = this.state === 'granted';
    this.#end(name === 'NotSupportedError' || name === 'SecurityError' ? 'unavailable' : 'failed', error);
    if (stolen) this.#lost();
  }

  #end(state: TurnState, error?: unknown): void {
    this.state = state;
    this.error = error;
    this.#settle();
  }
}
