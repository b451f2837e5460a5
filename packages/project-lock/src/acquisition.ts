// One call of `acquire`, from the first request to the lease or the error: lines up for the Web Lock, asks the record, backs
// off. Every wait is bounded by the caller's patience and cut short by the caller's signal; an abort leaves nothing behind.

import { failure, failureOf, type ProjectLockError } from './errors.js';
import type { Events } from './events.js';
import { Held, LEASE_MS } from './held.js';
import { Patience } from './patience.js';
import { BACKING_OFF, REQUESTING_WEB, SWITCHING_FALLBACK, type Ports } from './ports.js';
import type { Reply } from './reply.js';
import { Turn, type TurnState } from './turn.js';
import type { ProjectLockAcquireOptions } from './types.js';
import { wait } from './wait.js';
import type { Answer } from './wire.js';

/** So long a tab only lines up. After that it also asks the record, in case that the holder is frozen. */
const LINE_UP_MS = 1000;
/** So long a step waits for other tabs, even if the caller would not: theirs take milliseconds. */
const STEP_MS = 300;
/** And no longer at a time: who waits for longer asks again. So a worker that hangs is noticed. */
const LONGEST_STEP_MS = 5000;

export class Acquisition {
  /** Of the attempt that is being made. Each has its own: what an attempt that failed left is not taken for another's. */
  leaseId = '';
  readonly #ports: Ports;
  readonly #events: Events;
  /** Leases that this tab asked for or had, and that it does not hold: they are in nobody's way. */
  readonly #gone: Set<string>;
  readonly #signal: AbortSignal | undefined;
  readonly #patience: Patience;
  turn: Turn;
  /** What the turn was when the record was last asked. */
  #seen: TurnState = 'waiting';
  #switched = false;

  constructor(ports: Ports, events: Events, gone: Set<string>, options: ProjectLockAcquireOptions) {
    this.#ports = ports;
    this.#events = events;
    this.#gone = gone;
    this.#signal = options.signal;
    this.#patience = new Patience(ports.clock, options);
    this.turn = this.#newTurn();
  }

  async run(): Promise<Held> {
    let held: Held | null = null;
    try {
      await this.#lineUp();
      while (!(held = await this.#attempt())) {
        this.#patience.attempt += 1;
        if (this.turn.state === 'failed') {
          this.turn = this.#newTurn();
          await this.#lineUp();
        }
      }
      return held;
    } finally {
      if (!held?.turn) this.turn.leave();
    }
  }

  /** The lease, or null after having backed off. */
  async #attempt(): Promise<Held | null> {
    const { state, error } = this.turn;
    this.#seen = state;
    this.leaseId = this.#ports.uuid();
    if (state === 'failed') return this.#backOff(failure('web-lock-unavailable', 'the Web Lock request failed', error));
    if (state === 'unavailable') this.#switch('there are no Web Locks here', error);
    const web = state === 'granted';
    const asked = this.#ports.clock.monotonic();
    const { reply, medium } = await this.#ask(this.turn.since);
    if (reply.type !== 'done') return this.#backOff(failureOf(reply));
    if (!web && state !== 'unavailable') this.#switch('the Web Lock is late', error);
    const source = web ? 'web-lock' : (`${medium}-lock` as const);
    const { expiresAt, fence } = reply;
    return new Held({ leaseId: this.leaseId, expiresAt, source, fence }, web ? this.turn : null, asked);
  }

  /** Asks the record. A caller that goes away does not wait for the answer much longer. */
  async #ask(webSince: number | null): Promise<Answer> {
    const { clock, link } = this.#ports;
    const patience = Math.min(LONGEST_STEP_MS, Math.max(STEP_MS, this.#patience.leftMs));
    const { leaseId } = this;
    const asked = link.ask({ type: 'acquire', leaseId, ttl: LEASE_MS, webSince, mine: [...this.#gone] }, patience);
    let answer: Answer | null = null;
    const answered = asked.then((told) => void (answer = told));
    await wait(clock, null, this.#signal, answered);
    if (this.#signal?.aborted) await wait(clock, STEP_MS, undefined, answered);
    if (answer && !this.#signal?.aborted) return this.#heard(answer);
    this.#gone.add(leaseId);
    // What is granted although nobody waits for it any more is given back, before the caller is told if there is time.
    const undone = asked.then(({ reply }) => this.#giveBack(leaseId, reply));
    if (answer) await undone;
    throw aborted(this.#signal);
  }

  /** A step that failed may have been half done: the next one finds this tab's own id, and must not wait for it. */
  #heard(answer: Answer): Answer {
    if (answer.reply.type === 'failed') this.#gone.add(this.leaseId);
    if (answer.reply.type === 'done') this.#gone.clear();
    return answer;
  }

  async #giveBack(leaseId: string, reply: Reply): Promise<void> {
    if (reply.type === 'done') await this.#ports.link.ask({ type: 'release', leaseId, mine: [leaseId] }, LONGEST_STEP_MS);
  }

  async #backOff(error: ProjectLockError): Promise<null> {
    if (!error.retryable) throw error;
    this.#ports.enters?.(BACKING_OFF);
    const { attempt } = this.#patience;
    const delayMs = this.#patience.nextDelayMs();
    if (delayMs === null) throw error;
    this.#events.emit({ type: 'backoff', error, attempt, delayMs });
    // The place in the queue is kept: when it is this tab's turn, the rest of the delay is not waited for.
    await this.#wait(delayMs, this.#seen === 'waiting');
    this.#ports.enters?.(REQUESTING_WEB);
    return null;
  }

  /** Waits for the Web Lock alone, for a while. Who has no time to wait still hears whether it is free. */
  #lineUp(): Promise<void> {
    this.#ports.enters?.(REQUESTING_WEB);
    const { leftMs } = this.#patience;
    return this.#wait(leftMs > 0 ? Math.min(leftMs, LINE_UP_MS) : STEP_MS, true);
  }

  async #wait(ms: number, orTurn: boolean): Promise<void> {
    await wait(this.#ports.clock, ms, this.#signal, orTurn ? this.turn.settled : undefined);
    if (this.#signal?.aborted) throw aborted(this.#signal);
  }

  #switch(message: string, cause: unknown): void {
    this.#ports.enters?.(SWITCHING_FALLBACK);
    if (this.#switched) return;
    this.#switched = true;
    this.#events.emit({ type: 'switch-to-fallback', error: failure('web-lock-unavailable', message, cause) });
  }

  #newTurn(): Turn {
    return new Turn(this.#ports.locks(), this.#ports.clock, this.#patience.leftMs > 0, this.#ports.name);
  }
}

export function aborted(signal: AbortSignal | undefined): ProjectLockError {
  return failure('web-lock-aborted', 'aborted by the caller', signal?.reason);
}
