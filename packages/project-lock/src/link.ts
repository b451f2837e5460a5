// The page's end of the worker: starts it when it is first needed, matches replies with requests, and starts another one
// if it dies or says nothing for too long. Where no worker can be started, the page keeps the record itself.

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

interface Waiting {
  readonly request: Request;
  answer(answer: Answer): void;
}

interface Listener {
  readonly notice: (notice: Notice) => void;
  readonly died: () => void;
}

export class WorkerLink {
  readonly #start: () => Host;
  readonly #startHere: () => Promise<Host>;
  readonly #medium: () => Medium;
  readonly #clock: Clock;
  readonly #waiting = new Map<number, Waiting>();
  readonly #listeners: Listener[] = [];
  #host: Host | null = null;
  /** Whether the host has said anything: one that has not could not be started. */
  #spoke = false;
  /** No worker can be started: the page does its work. */
  #here = false;
  #ids = 0;

  constructor(start: () => Host, startHere: () => Promise<Host>, medium: () => Medium, clock: Clock) {
    this.#start = start;
    this.#startHere = startHere;
    this.#medium = medium;
    this.#clock = clock;
  }

  /** The link for the project of this name. */
  to(name: string): Link {
    return {
      ask: (ask, patienceMs) => this.#ask({ id: ++this.#ids, name, medium: this.#medium(), patienceMs, ask }),
      listen: (notice, died) => this.#listeners.push({ notice, died }),
    };
  }

  #ask(request: Request): Promise<Answer> {
    return new Promise((resolve) => {
      const cancel = this.#clock.after(request.patienceMs + SILENCE_MS, () => this.#drop(this.#host, SILENT));
      const answer = (answer: Answer) => {
        cancel();
        resolve(answer);
      };
      this.#waiting.set(request.id, { request, answer });
      if (this.#host) this.#host.postMessage(request);
      else if (this.#here) this.#openHere();
      else this.#open();
    });
  }

  #open(): void {
    try {
      this.#use(this.#start());
    } catch (error) {
      this.#openHere(error);
    }
  }

  /** What waits is asked when it is there: the worker that could not be started has not done anything. */
  #openHere(why?: unknown): void {
    this.#here = true;
    this.#startHere().then(
      (host) => this.#host ?? this.#use(host),
      (error) => this.#drop(null, unreachable(why ?? error)),
    );
  }

  #use(host: Host): void {
    this.#host = host;
    this.#spoke = false;
    host.onmessage = ({ data }: MessageEvent<Message>) => {
      this.#spoke = true;
      if ('notice' in data) return this.#listeners.forEach(({ notice }) => notice(data.notice));
      this.#waiting.get(data.id)?.answer(data);
      this.#waiting.delete(data.id);
    };
    host.onerror = (event) => {
      event.preventDefault();
      const why = event.message ?? 'not loaded';
      if (this.#spoke || this.#host !== host) return this.#drop(host, unreachable(why));
      this.#host = null;
      host.terminate();
      this.#openHere(why);
    };
    for (const { request } of this.#waiting.values()) host.postMessage(request);
  }

  #drop(host: Host | null, reply: Reply): void {
    if (this.#host !== host) return;
    host?.terminate();
    this.#host = null;
    this.#here ||= !this.#spoke;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { answer } of waiting) answer({ reply, medium: this.#medium() });
    for (const { died } of this.#listeners) died();
  }
}

const SILENT: Reply = { type: 'failed', stage: 'read', why: 'guard.js does not answer' };

function unreachable(why: unknown): Reply {
  return { type: 'failed', stage: 'open', why: `guard.js did not start, or died: ${why}` };
}
