// Keeps this tab's part of the record: takes its steps one after the other, and beats for the lease that it holds. Lives
// in a worker, whose timers go on while the page is in the background or busy. It decides nothing; `step` does.

import type { RefusalCode } from './decide.js';
import { isOver, type Reply } from './reply.js';
import { step, type Ask } from './step.js';
import { StoreFailure, type Store } from './store.js';
import type { Clock } from './clock.js';

/** What the page is told without having asked. */
export type Notice =
  | { readonly type: 'beat'; readonly leaseId: string; readonly expiresAt: number }
  | { readonly type: 'lost'; readonly leaseId: string; readonly code: RefusalCode };

/** The lease that beats: until when it is good, and for how long a beat prolongs it. */
export interface Beating {
  readonly leaseId: string;
  readonly ttl: number;
  readonly expiresAt: number;
}

/** Four beats fit into a lease, so that three may fail. */
const BEATS_IN_A_LEASE = 4;
const [SLOWEST_BEAT_MS, RETRY_MS] = [4000, 500];

export class Keeper {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #tell: (notice: Notice) => void;
  #beating: Beating | null = null;
  #cancel: () => void = () => undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(store: Store, clock: Clock, tell: (notice: Notice) => void) {
    this.#store = store;
    this.#clock = clock;
    this.#tell = tell;
  }

  /** Takes a step. What is asked to be released beats no more, whatever becomes of the release. */
  ask(ask: Ask, patienceMs: number): Promise<Reply> {
    if (ask.op === 'release') this.#rest(ask.leaseId);
    return this.#inTurn(async () => {
      const reply = await this.#take(ask, patienceMs);
      const done = reply.type === 'done';
      if (done && (ask.op === 'acquire' || ask.op === 'renew')) this.#beatFor({ ...ask, expiresAt: reply.expiresAt });
      if (isOver(reply) && ask.op === 'renew') this.#rest(ask.leaseId);
      return reply;
    });
  }

  /** Beats at once, for a page that has slept or lost its worker and wants to know what it still has. */
  wake(beating: Beating): Promise<void> {
    this.#beatFor(beating);
    return this.#beat(this.#beating);
  }

  #beatFor({ leaseId, ttl, expiresAt }: Beating): void {
    const beating = { leaseId, ttl, expiresAt };
    this.#beating = beating;
    this.#schedule(beating, Math.min(SLOWEST_BEAT_MS, ttl / BEATS_IN_A_LEASE));
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

  #beat(beating: Beating | null): Promise<void> {
    return this.#inTurn(async () => {
      // Renewed, released or lost while this beat waited for its turn.
      if (!beating || this.#beating !== beating) return;
      const { leaseId, ttl } = beating;
      const reply = await this.#take({ op: 'renew', leaseId, ttl, mine: [leaseId] }, beating.expiresAt - this.#clock.now());
      if (this.#beating === beating) this.#afterBeat(beating, reply);
    });
  }

  #afterBeat(beating: Beating, reply: Reply): void {
    const { leaseId, ttl, expiresAt } = beating;
    if (reply.type === 'done') {
      this.#beatFor({ leaseId, ttl, expiresAt: reply.expiresAt });
      this.#tell({ type: 'beat', leaseId, expiresAt: reply.expiresAt });
    } else if (isOver(reply) || this.#clock.now() >= expiresAt) {
      this.#rest(leaseId);
      this.#tell({ type: 'lost', leaseId, code: isOver(reply) ? reply.code : 'EXPIRED' });
    } else {
      this.#schedule(beating, Math.min(RETRY_MS, ttl / BEATS_IN_A_LEASE));
    }
  }

  async #take(ask: Ask, patienceMs: number): Promise<Reply> {
    try {
      return (await this.#store.run(patienceMs, (texts) => step(texts, ask, this.#clock.now()))).outcome;
    } catch (error) {
      const { stage, message: why } = error instanceof StoreFailure ? error : new StoreFailure('write', error);
      return stage === 'busy' ? { type: 'refused', code: 'BUSY' } : { type: 'failed', stage, why };
    }
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}
