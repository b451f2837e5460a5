// Keeps this tab's part of the record: takes its steps one after the other, and beats for the lease that it holds. Lives
// in a worker, whose timers go on while the page is in the background or busy. It decides nothing; `step` does.

import { isOver, type Reply } from './reply.js';
import { beatMs, needsRecord, step, type Ask } from './step.js';
import type { Texts } from './record.js';
import { StoreFailure, type Stage, type Store } from './store.js';
import type { Clock } from './clock.js';

/** What the page is told without having asked: what came of a beat, if the lease was prolonged or is lost. */
export interface Notice {
  readonly leaseId: string;
  readonly reply: Reply;
}

/** The lease that beats: until when it is good by the monotonic clock, and for how long a beat prolongs it. */
interface Beating {
  readonly leaseId: string;
  readonly ttl: number;
  readonly until: number;
}

const RETRY_MS = 500;

export class Keeper {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #tell: (notice: Notice) => void;
  #beating: Beating | null = null;
  #cancel: () => void = () => undefined;
  #last: Promise<void> = Promise.resolve();
  /** What was found last, and since when it is as it is. */
  #seen = { texts: '', since: 0 };

  constructor(store: Store, clock: Clock, tell: (notice: Notice) => void) {
    this.#store = store;
    this.#clock = clock;
    this.#tell = tell;
  }

  /** Takes a step, and says what came of it. What is asked to be released beats no more, whatever becomes of that. */
  ask(ask: Ask, patienceMs: number, tell: (reply: Reply) => void): Promise<void> {
    const { leaseId, leftMs } = ask;
    // A worker that has kept the lease from the beginning knows better than the page.
    const until = this.#beating?.leaseId === leaseId ? this.#beating.until : leftMs && this.#clock.monotonic() + leftMs;
    if (ask.type === 'release') this.#rest(leaseId);
    return this.#take(ask, until, patienceMs, (reply, at) => {
      if (reply.type === 'done' && 'ttl' in ask) this.#beatFor({ leaseId, ttl: ask.ttl, until: at + ask.ttl });
      if (isOver(reply) && ask.type === 'renew') this.#rest(leaseId);
      tell(reply);
    });
  }

  #beatFor(beating: Beating): void {
    this.#beating = beating;
    this.#schedule(beating, beatMs(beating.ttl));
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
    const { leaseId, ttl, until } = beating;
    // Renewed, released or lost while this beat waited for its turn.
    const isCurrent = () => this.#beating === beating;
    const ask = { type: 'renew', leaseId, ttl, mine: [leaseId] } as const;
    const tell = (reply: Reply, at: number) => void (isCurrent() && this.#afterBeat(beating, reply, at));
    return this.#take(ask, until, until - this.#clock.monotonic(), tell, isCurrent);
  }

  #afterBeat(beating: Beating, reply: Reply, at: number): void {
    const { leaseId, ttl, until } = beating;
    const left = until - this.#clock.monotonic();
    if (reply.type === 'done') {
      this.#beatFor({ leaseId, ttl, until: at + ttl });
      this.#tell({ leaseId, reply });
    } else if (isOver(reply) || left <= 0) {
      this.#rest(leaseId);
      this.#tell({ leaseId, reply: isOver(reply) ? reply : { type: 'refused', code: 'EXPIRED' } });
    } else {
      this.#schedule(beating, Math.min(RETRY_MS, beatMs(ttl), left));
    }
  }

  /** One after the other, so that this tab never stands in its own way. `until`: when the lease is over if it is the tab's;
   * with the reply comes the moment of the step, both by the monotonic clock. */
  #take(
    ask: Ask,
    until: number | undefined,
    patienceMs: number,
    tell: (reply: Reply, at: number) => void,
    isWanted = () => true,
  ): Promise<void> {
    const turn = this.#last.then(async () => {
      if (!isWanted()) return;
      let at = 0;
      try {
        await this.#store.run(patienceMs, {
          // Who has the Web Lock is alone in wanting the project; the others are in the queue for it.
          stays: ask.type === 'acquire' && ask.webSince !== null,
          needsRecord: (beside, absent) => needsRecord(beside, absent, ask, this.#clock.now()),
          step: (texts) => {
            at = this.#clock.monotonic();
            const leftMs = until === undefined ? until : until - at;
            return step(texts, ask, this.#clock.now(), { unchangedMs: at - this.#since(texts, at), leftMs });
          },
          done: ({ outcome }) => tell(outcome, at),
        });
      } catch (error) {
        tell(failed(error, 'write', ask.type === 'acquire'), at);
      }
    });
    this.#last = turn;
    return turn;
  }

  /** Since when nothing has changed, a beat included: each of them counts on. */
  #since({ record, beside }: Texts, at: number): number {
    const texts = `${record} ${beside}`;
    if (texts !== this.#seen.texts) this.#seen = { texts, since: at };
    return this.#seen.since;
  }
}

/** What a store that failed comes to. Who waits anyway is told that others are busy; to a holder that is a failure. */
export function failed(error: unknown, assumed: Stage, waits: boolean): Reply {
  const { stage, message: why } = error instanceof StoreFailure ? error : new StoreFailure(assumed, error);
  if (stage !== 'busy') return { type: 'failed', stage, why };
  return waits ? { type: 'refused', code: 'BUSY' } : { type: 'failed', stage: 'write', why };
}
