// Keeps this tab's part of the record: takes its steps one after the other, and beats for the lease that it holds. Lives
// in a worker, whose timers go on while the page is in the background or busy. It decides nothing; `step` does.

import { isOver, type Reply } from './reply.js';
import { needsRecord, step, type Ask } from './step.js';
import { StoreFailure, type Stage, type Store } from './store.js';
import type { Clock } from './clock.js';

/** What the page is told without having asked: what came of a beat, if the lease was prolonged or is lost. */
export interface Notice {
  readonly leaseId: string;
  readonly reply: Reply;
}

/** The lease that beats: until when it is good, and for how long a beat prolongs it. */
interface Beating {
  readonly leaseId: string;
  readonly ttl: number;
  readonly expiresAt: number;
}

/** Four beats fit into a lease, so that three may fail. */
const BEATS_IN_A_LEASE = 4;
const SLOWEST_BEAT_MS = 4000;
const RETRY_MS = 500;

export class Keeper {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #tell: (notice: Notice) => void;
  #beating: Beating | null = null;
  #cancel: () => void = () => undefined;
  #last: Promise<void> = Promise.resolve();

  constructor(store: Store, clock: Clock, tell: (notice: Notice) => void) {
    this.#store = store;
    this.#clock = clock;
    this.#tell = tell;
  }

  /** Takes a step, and says what came of it. What is asked to be released beats no more, whatever becomes of that. */
  ask(ask: Ask, patienceMs: number, tell: (reply: Reply) => void): Promise<void> {
    if (ask.type === 'release') this.#rest(ask.leaseId);
    return this.#take(ask, patienceMs, (reply) => {
      if (reply.type === 'done' && 'ttl' in ask) this.#beatFor({ ...ask, expiresAt: reply.expiresAt });
      if (isOver(reply) && ask.type === 'renew') this.#rest(ask.leaseId);
      tell(reply);
    });
  }

  #beatFor(beating: Beating): void {
    this.#beating = beating;
    this.#schedule(beating, Math.min(SLOWEST_BEAT_MS, beating.ttl / BEATS_IN_A_LEASE));
  }

  #schedule(beating: Beating, ms: number): void {
    this.#cancel();
    this.#cancel = this.#clock.after(ms, () => void this.#beat(beating));
  }

  #rest(leaseId: string): void {
    if (this.#beating?.leaseId !== leaseId) return;
    this.#cancel();
    this.#beating = null;
  }

  #beat(beating: Beating): Promise<void> {
    const { leaseId, ttl, expiresAt } = beating;
    // Renewed, released or lost while this beat waited for its turn.
    const isCurrent = () => this.#beating === beating;
    const ask = { type: 'renew', leaseId, ttl, mine: [leaseId] } as const;
    const tell = (reply: Reply) => void (isCurrent() && this.#afterBeat(beating, reply));
    return this.#take(ask, expiresAt - this.#clock.now(), tell, isCurrent);
  }

  #afterBeat(beating: Beating, reply: Reply): void {
    const { leaseId, ttl, expiresAt } = beating;
    const left = expiresAt - this.#clock.now();
    if (reply.type === 'done') {
      this.#beatFor({ ...beating, expiresAt: reply.expiresAt });
      this.#tell({ leaseId, reply });
    } else if (isOver(reply) || left <= 0) {
      this.#rest(leaseId);
      this.#tell({ leaseId, reply: isOver(reply) ? reply : { type: 'refused', code: 'EXPIRED' } });
    } else {
      this.#schedule(beating, Math.min(RETRY_MS, ttl / BEATS_IN_A_LEASE, left));
    }
  }

  /** One after the other, so that this tab never stands in its own way. */
  #take(ask: Ask, patienceMs: number, tell: (reply: Reply) => void, isWanted = () => true): Promise<void> {
    const turn = this.#last.then(async () => {
      if (!isWanted()) return;
      try {
        await this.#store.run(patienceMs, {
          // Who has the Web Lock is alone in wanting the project; the others are in the queue for it.
          stays: ask.type === 'acquire' && ask.webSince !== null,
          needsRecord: (beside, absent) => needsRecord(beside, absent, ask, this.#clock.now()),
          step: (texts) => step(texts, ask, this.#clock.now()),
          done: ({ outcome }) => tell(outcome),
        });
      } catch (error) {
        tell(failed(error, 'write', ask.type === 'acquire'));
      }
    });
    this.#last = turn;
    return turn;
  }
}

/** What a store that failed comes to. Who waits anyway is told that others are busy; to a holder that is a failure. */
export function failed(error: unknown, assumed: Stage, waits: boolean): Reply {
  const { stage, message: why } = error instanceof StoreFailure ? error : new StoreFailure(assumed, error);
  if (stage !== 'busy') return { type: 'failed', stage, why };
  return waits ? { type: 'refused', code: 'BUSY' } : { type: 'failed', stage: 'write', why };
}
