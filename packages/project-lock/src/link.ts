// The page's end of the worker: starts it when it is first needed, matches replies with requests, and starts another one
// if it dies. `new URL(…, import.meta.url)` is what bundlers and plain browsers both understand.

import type { Ask } from './step.js';
import type { Beating, Notice } from './keeper.js';
import type { Reply } from './reply.js';
import type { Medium, Message, Request } from './wire.js';

/** What the lock needs of whoever keeps the record. */
export interface Link {
  ask(ask: Ask, patienceMs: number): Promise<{ reply: Reply; medium: Medium }>;
  wake(beating: Beating): void;
  /** Where notices go, and the news that beats have stopped because the worker is gone. */
  listen(notice: (notice: Notice) => void, died: () => void): void;
}

type Waiting = (message: { reply: Reply | null; medium: Medium }) => void;

export class WorkerLink implements Link {
  readonly #start: () => Worker;
  readonly #medium: () => Medium;
  #worker: Worker | null = null;
  #waiting = new Map<number, Waiting>();
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

  async ask(ask: Ask, patienceMs: number): Promise<{ reply: Reply; medium: Medium }> {
    const { reply, medium } = await this.#send(ask, patienceMs);
    return { reply: reply as Reply, medium };
  }

  wake(beating: Beating): void {
    void this.#send({ op: 'wake', ...beating }, 0);
  }

  #send(ask: Request['ask'], patienceMs: number): Promise<Parameters<Waiting>[0]> {
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
      this.#drop(worker, event.message ?? 'it could not be loaded');
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

function unreachable(medium: Medium, why: string): { reply: Reply; medium: Medium } {
  return { reply: { type: 'failed', stage: 'open', why: `the worker guard.js did not start or died (${why})` }, medium };
}
