// One call of `acquire`, from the first request to the lease or the error: lines up for the Web Lock, asks the record, backs
// off. Every wait is bounded by the caller's patience and cut short by the caller's signal; an abort leaves nothing behind.

import type { Clock } from './clock.js';
import { failure, failureOf, type ProjectLockError } from './errors.js';
import { Held } from './held.js';
import type { Reply } from './reply.js';
import type { Link } from './link.js';
import { Patience } from './patience.js';
import type { Ask } from './step.js';
import { Turn, type LockManagerLike, type TurnState } from './turn.js';
import type { ProjectLockAcquireOptions, ProjectLockEvent } from './types.js';
import { wait } from './wait.js';

export type LockState =
  | 'idle'
  | 'requesting_web'
  | 'switching_fallback'
  | 'holding_web'
  | 'holding_fallback'
  | 'renewing'
  | 'backing_off'
  | 'releasing'
  | 'faulted';

/** What an acquisition needs of the lock that it is for. */
export interface Host {
  readonly locks: LockManagerLike | null;
  readonly clock: Clock;
  readonly leaseId: string;
  ask(ask: Ask, patienceMs: number): ReturnType<Link['ask']>;
  enter(state: LockState): void;
  emit(event: ProjectLockEvent): void;
}

export const LEASE_MS = 15_000;
/** So long a tab only lines up. After that it also asks the record, in case that the holder is frozen. */
const LINE_UP_MS = 1000;
/** So long a step waits for other tabs, even if the caller would not: theirs take milliseconds. */
export const STEP_MS = 300;

export class Acquisition {
  readonly #host: Host;
  readonly #signal: AbortSignal | undefined;
  readonly #patience: Patience;
  #turn: Turn;
  /** What the turn was when the record was last asked. */
  #seen: TurnState = 'waiting';
  #switched = false;

  constructor(host: Host, options: ProjectLockAcquireOptions) {
    this.#host = host;
    this.#signal = options.signal;
    this.#patience = new Patience(host.clock, options);
    this.#turn = this.#newTurn();
  }

  async run(): Promise<Held> {
    let held: Held | null = null;
    try {
      await this.#lineUp();
      while (!(held = await this.#attempt())) {
        this.#patience.attempt += 1;
        if (this.#turn.state === 'failed') {
          this.#turn = this.#newTurn();
          await this.#lineUp();
        }
      }
      return held;
    } finally {
      if (!held?.turn) this.#turn.leave();
    }
  }

  /** The lease, or null after having backed off. */
  async #attempt(): Promise<Held | null> {
    const { state, error } = this.#turn;
    this.#seen = state;
    if (state === 'failed') return this.#backOff(failure('web-lock-unavailable', 'the Web Lock request failed', error));
    if (state === 'unavailable') this.#switch('Web Locks cannot be used here', error);
    const web = state === 'granted';
    const ask = { op: 'acquire', leaseId: this.#host.leaseId, ttl: LEASE_MS, web, mine: [] } as const;
    const { reply, medium } = await this.#host.ask(ask, this.#patience.leftMs);
    if (this.#signal?.aborted) await this.#undo(reply);
    if (reply.type !== 'done') return this.#refused(failureOf(reply));
    if (!web && state !== 'unavailable') this.#switch('the Web Lock was not granted in time', error);
    return new Held({
      leaseId: this.#host.leaseId,
      source: web ? 'web-lock' : `${medium}-lock`,
      turn: web ? this.#turn : null,
      fence: reply.fence,
      expiresAt: reply.expiresAt,
      ttl: LEASE_MS,
    });
  }

  #refused(error: ProjectLockError): Promise<null> {
    if (!error.retryable) throw error;
    return this.#backOff(error);
  }

  async #backOff(error: ProjectLockError): Promise<null> {
    this.#host.enter('backing_off');
    const { attempt } = this.#patience;
    const delayMs = this.#patience.nextDelayMs();
    if (delayMs === null) throw error;
    this.#host.emit({ type: 'backoff', error, attempt, delayMs });
    // The place in the queue is kept: when it is this tab's turn, the rest of the delay is not waited for.
    await this.#wait(delayMs, this.#seen === 'waiting');
    this.#host.enter('requesting_web');
    return null;
  }

  /** Waits for the Web Lock alone, for a while. Who has no time to wait still hears whether it is free. */
  #lineUp(): Promise<void> {
    this.#host.enter('requesting_web');
    const { leftMs } = this.#patience;
    return this.#wait(leftMs > 0 ? Math.min(leftMs, LINE_UP_MS) : STEP_MS, true);
  }

  async #wait(ms: number, orTurn: boolean): Promise<void> {
    await wait(this.#host.clock, ms, this.#signal, orTurn ? this.#turn.settled : undefined);
    if (this.#signal?.aborted) throw aborted(this.#signal);
  }

  #switch(message: string, cause: unknown): void {
    this.#host.enter('switching_fallback');
    if (this.#switched) return;
    this.#switched = true;
    this.#host.emit({ type: 'switch-to-fallback', error: failure('web-lock-unavailable', message, cause) });
  }

  #newTurn(): Turn {
    return new Turn(this.#host.locks, this.#patience.leftMs > 0);
  }

  /** What was granted although the caller has gone is given back first. */
  async #undo(reply: Reply): Promise<never> {
    const { leaseId } = this.#host;
    if (reply.type === 'done') await this.#host.ask({ op: 'release', leaseId, mine: [leaseId] }, LEASE_MS);
    throw aborted(this.#signal);
  }
}

export function aborted(signal: AbortSignal | undefined): ProjectLockError {
  return failure('web-lock-aborted', 'acquiring the project was aborted by the caller', signal?.reason);
}
