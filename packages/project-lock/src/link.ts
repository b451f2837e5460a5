// The page's end of the worker: starts it when it is first needed, matches replies with requests, and starts another one
// if it dies or says nothing for too long.

import type { Clock } from './clock.js';
import type { Notice } from './keeper.js';
import type { Reply } from './reply.js';
import type { Ask } from './step.js';
import type { Answer, Medium, Message, Request } from './wire.js';

/** What the lock needs of whoever keeps the record. */
export interface Link {
  ask(ask: Ask, patienceMs: number): Promise<Answer>;
  /** Where notices go, and the news that beats have stopped because the worker is gone. */
  listen(notice: (notice: Notice) => void, died: () => void): void;
}

/** A worker that is silent for that much longer than a step may take hangs, or will not be in time. */
export const SILENCE_MS = 3000;

/** What of a worker is used. */
export type Host = Pick<Worker, 'postMessage' | 'terminate' | 'onmessage' | 'onerror'>;

export class WorkerLink implements Link {
  readonly #start: () => Host;
  readonly #clock: Clock;
  readonly #medium: () => Medium;
  #worker: Host | null = null;
  #waiting = new Map<number, (answer: Answer) => void>();
  #ids = 0;
  #notice: (notice: Notice) => void = () => undefined;
  #died: () => void = () => undefined;

  constructor(start: () => Host, medium: () => Medium, clock: Clock) {
    this.#start = start;
    this.#clock = clock;
    this.#medium = medium;
  }

  listen(notice: (notice: Notice) => void, died: () => void): void {
    this.#notice = notice;
    this.#died = died;
  }

  ask(ask: Ask, patienceMs: number): Promise<Answer> {
    const [id, medium] = [++this.#ids, this.#medium()];
    return new Promise((resolve) => {
      try {
        const worker = (this.#worker ??= this.#open());
        const cancel = this.#clock.after(patienceMs + SILENCE_MS, () => this.#drop(worker, SILENT));
        this.#waiting.set(id, (answer) => {
          cancel();
          resolve(answer);
        });
        worker.postMessage({ id, medium, patienceMs, ask } satisfies Request);
      } catch (error) {
        resolve({ reply: unreachable(String(error)), medium });
      }
    });
  }

  #open(): Host {
    const worker = this.#start();
    worker.onmessage = ({ data }: MessageEvent<Message>) => {
      if ('notice' in data) return this.#notice(data.notice);
      this.#waiting.get(data.id)?.(data);
      this.#waiting.delete(data.id);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      this.#drop(worker, unreachable(event.message ?? 'not loaded'));
    };
    return worker;
  }

  #drop(worker: Host, reply: Reply): void {
    if (this.#worker !== worker) return;
    worker.terminate();
    this.#worker = null;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const resolve of waiting) resolve({ reply, medium: this.#medium() });
    this.#died();
  }
}

const SILENT: Reply = { type: 'failed', stage: 'read', why: 'guard.js does not answer, and is started anew' };

function unreachable(why: string): Reply {
  return { type: 'failed', stage: 'open', why: `guard.js did not start, or died: ${why}` };
}
