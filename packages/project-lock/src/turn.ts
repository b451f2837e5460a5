// One place in the queue for the Web Lock. It is kept for as long as an acquisition goes on, so that backing off costs
// nobody the turn, and the browser passes the lock on at once when a tab lets go or dies.

import type { Clock } from './clock.js';

export type LockManagerLike = Pick<LockManager, 'request'>;

/** `taken`: another tab has it. `unavailable`: never here. `failed`: not this time. */
export type TurnState = 'waiting' | 'granted' | 'taken' | 'unavailable' | 'failed';

const NAME = 'holdfast:project';

/** Of the Web Lock for the project of this name. */
export const lockName = (name: string): string => (name ? `${NAME}:${name}` : NAME);

export class Turn {
  state: TurnState = 'waiting';
  /** When the lock was granted. */
  since: number | null = null;
  error: unknown;
  /** When it is not waiting any more. */
  readonly settled: Promise<void>;
  readonly #locks: LockManagerLike | null;
  readonly #clock: Clock;
  readonly #lineUp: boolean;
  readonly #name: string;
  #abort = new AbortController();
  #settle!: () => void;
  #letGo!: () => void;
  #lost: (() => void) | undefined;

  /** Lines up, or only looks whether the lock is free. */
  constructor(locks: LockManagerLike | null, clock: Clock, lineUp: boolean, name = '') {
    this.#name = lockName(name);
    this.#locks = locks;
    this.#clock = clock;
    this.#lineUp = lineUp;
    this.settled = new Promise((settle) => (this.#settle = settle));
    this.#request();
  }

  /** Whom to tell if the lock is taken away after it was granted. */
  onLost(lost: () => void): void {
    if (this.state === 'granted') this.#lost = lost;
    else lost();
  }

  /** Leaves the queue, or lets go of the lock. */
  leave(): void {
    this.#lost = undefined;
    if (this.state === 'granted') this.#letGo();
    else this.#abort.abort();
  }

  /** Leaves the queue until it resumes: a page that stands still must not be given what others wait for. */
  pause(): void {
    if (this.state === 'waiting') this.#abort.abort();
  }

  resume(): void {
    if (this.state === 'waiting' && this.#abort.signal.aborted) this.#request();
  }

  #request(): void {
    if (!this.#locks) return this.#end('unavailable');
    const { signal } = (this.#abort = new AbortController());
    // A request that only looks cannot be given a signal; it does not need one.
    const options: LockOptions = this.#lineUp ? { signal } : { ifAvailable: true };
    const refused = (error: unknown) => signal.aborted || this.#refused(error);
    try {
      this.#locks.request(this.#name, options, (lock) => (signal.aborted ? undefined : this.#granted(lock))).catch(refused);
    } catch (error) {
      refused(error);
    }
  }

  #granted(lock: unknown): Promise<void> | void {
    if (!lock) return this.#end('taken');
    const held = new Promise<void>((letGo) => (this.#letGo = letGo));
    this.since = this.#clock.now();
    this.#end('granted');
    return held;
  }

  #refused(error: unknown): void {
    const name = (error as { name?: unknown } | null)?.name;
    const stolen = this.state === 'granted';
    this.#end(name === 'NotSupportedError' || name === 'SecurityError' ? 'unavailable' : 'failed', error);
    if (stolen) this.#lost?.();
  }

  #end(state: TurnState, error?: unknown): void {
    this.state = state;
    this.error = error;
    this.#settle();
  }
}
