// The page's end of the worker: starts it when it is first needed, matches replies with requests, and starts another one
// if it dies.

import type { Notice } from './keeper.js';
import type { Ask } from './step.js';
import type { Answer, Medium, Message, Request } from './wire.js';

/** What the lock needs of whoever keeps the record. */
export interface Link {
  ask(ask: Ask, patienceMs: number): Promise<Answer>;
  /** Where notices go, and the news that beats have stopped because the worker is gone. */
  listen(notice: (notice: Notice) => void, died: () => void): void;
}

export class WorkerLink implements Link {
  readonly #start: () => Worker;
  readonly #medium: () => Medium;
  #worker: Worker | null = null;
  #waiting = new Map<number, (answer: Answer) => void>();
  #ids = 0;
  #notice: (notice: Notice) => void = () => undefined;
  #died: () => void = () => undefined;

  constructor(start: () => Worker, medium: () => Medium) {
    this.#start = start;
    this.#medium = medium;
  }

  listen(notice: (notice: Notice) => void, died: () => void): void {
    this.#notice = notice;
    this.#died = died;
  }

  ask(ask: Ask, patienceMs: number): Promise<Answer> {
    const [id, medium] = [++this.#ids, this.#medium()];
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      try {
        this.#worker ??= this.#open();
        this.#worker.postMessage({ id, medium, patienceMs, ask } satisfies Request);
      } catch (error) {
        this.#waiting.delete(id);
        resolve(unreachable(medium, String(error)));
      }
    });
  }

  #open(): Worker {
    const worker = this.#start();
    worker.onmessage = ({ data }: MessageEvent<Message>) => {
      if ('notice' in data) return this.#notice(data.notice);
      this.#waiting.get(data.id)?.(data);
      this.#waiting.delete(data.id);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      this.#drop(worker, event.message ?? 'not loaded');
    };
    return worker;
  }

  #drop(worker: Worker, why: string): void {
    if (this.#worker !== worker) return;
    worker.terminate();
    this.#worker = null;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const resolve of waiting) resolve(unreachable(this.#medium(), why));
    this.#died();
  }
}

function unreachable(medium: Medium, why: string): Answer {
  return { reply: { type: 'failed', stage: 'open', why: `guard.js did not start, or died: ${why}` }, medium };
}
