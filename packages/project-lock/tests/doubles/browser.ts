// A browser of doubles: one clock, one folder, one queue for the Web Lock, and as many tabs as a test opens. Between them
// runs the code that ships; only the worker's thread is left out.

import type { Clock } from '../../src/clock.js';
import { Keeper, type Notice } from '../../src/keeper.js';
import { SILENCE_MS, type Link } from '../../src/link.js';
import { ProjectLock } from '../../src/lock.js';
import * as states from '../../src/ports.js';
import type { Ask } from '../../src/step.js';
import type { Store } from '../../src/store.js';
import { EventProbe } from './event-probe.js';
import { FakeClock } from './fake-clock.js';
import { InMemoryFolder } from './in-memory-opfs-file.js';
import { MockNavigatorLocks } from './mock-navigator-locks.js';

export class FakeBrowser {
  readonly clock = new FakeClock();
  readonly folder = new InMemoryFolder();
  readonly locks = new MockNavigatorLocks();
  #ids = 0;

  /** Opens a tab, with Web Locks or without. */
  tab(options: { webLocks?: boolean } = {}): FakeTab {
    return new FakeTab(this, options.webLocks === false ? null : this.locks);
  }

  uuid(): string {
    this.#ids += 1;
    return `00000000-0000-4000-8000-${String(this.#ids).padStart(12, '0')}`;
  }

  get record(): unknown {
    const { text } = this.folder.record;
    return text === null ? null : JSON.parse(text);
  }
}

/** A constant's name, as the diagram has it. */
function nameOf(state: number): string {
  return Object.entries(states).find(([, value]) => value === state)?.[0].toLowerCase() ?? 'unknown';
}

export class FakeTab {
  readonly lock: ProjectLock;
  readonly probe: EventProbe;
  readonly states: string[] = ['idle'];
  readonly link: DirectLink;

  constructor(browser: FakeBrowser, locks: MockNavigatorLocks | null) {
    this.link = new DirectLink(browser.folder.store(), browser.clock);
    this.lock = new ProjectLock({
      locks: () => locks,
      link: this.link,
      clock: this.link.clock,
      uuid: () => browser.uuid(),
      name: '',
      enters: (state) => this.states.push(nameOf(state)),
    });
    this.probe = new EventProbe(this.lock.events);
  }

  /** The steps of the state diagram that were taken: `from --> to`. */
  get edges(): string[] {
    return this.states.slice(1).map((to, at) => `${this.states[at]} --> ${to}`);
  }
}

/** The keeper without a thread of its own. */
export class DirectLink implements Link {
  /** While it is set, the worker cannot be reached. */
  dead: string | null = null;
  asked = 0;
  readonly #store: Store;
  readonly #clock: FakeClock;
  #keeper: Keeper;
  #due: (() => void)[] | null = null;
  #muted: Promise<never> | null = null;
  #notice: (notice: Notice) => void = () => {};
  #died: () => void = () => {};

  constructor(store: Store, clock: FakeClock) {
    this.#store = store;
    this.#clock = clock;
    this.#keeper = this.#start();
  }

  listen(notice: (notice: Notice) => void, died: () => void): void {
    [this.#notice, this.#died] = [notice, died];
  }

  async ask(ask: Ask, patienceMs: number): ReturnType<Link['ask']> {
    let cancel = () => {};
    const silent = new Promise<Awaited<ReturnType<Link['ask']>>>((told) => {
      cancel = this.#clock.after(patienceMs + SILENCE_MS, () => {
        this.#muted = null;
        this.kill();
        told({ reply: { type: 'failed', stage: 'read', why: 'silent' }, medium: 'opfs' });
      });
    });
    return Promise.race([this.#tell(ask, patienceMs), silent]).finally(cancel);
  }

  async #tell(ask: Ask, patienceMs: number): ReturnType<Link['ask']> {
    await new Promise((arrived) => setImmediate(arrived));
    await this.#muted;
    this.asked += 1;
    if (this.dead) {
      this.#died();
      return { reply: { type: 'failed', stage: 'open', why: this.dead }, medium: 'opfs' };
    }
    return new Promise((told) => this.#keeper.ask(ask, patienceMs, (reply) => told({ reply, medium: 'opfs' })));
  }

  /** The worker dies, and its beats with it. */
  kill(): void {
    this.#keeper = this.#start();
    this.#died();
  }

  /** The worker hangs: it takes no step any more, and does not beat. */
  mute(): void {
    this.#keeper = this.#start();
    this.#muted = new Promise(() => {});
  }

  /** The tab stands still: what was due meanwhile happens when it goes on. */
  freeze(): void {
    this.#due = [];
  }

  thaw(): void {
    const due = this.#due ?? [];
    this.#due = null;
    for (const call of due) call();
  }

  /** The clock of the tab: its timers stand still with it. */
  readonly clock: Clock = {
    now: () => this.#clock.now(),
    monotonic: () => this.#clock.monotonic(),
    after: (ms, call) => {
      let wanted = true;
      const cancel = this.#clock.after(ms, () => (this.#due ? this.#due.push(() => wanted && call()) : call()));
      return () => {
        wanted = false;
        cancel();
      };
    },
  };

  /** A keeper that was replaced beats no more. */
  #start(): Keeper {
    const after = (ms: number, call: () => void) => this.clock.after(ms, () => keeper === this.#keeper && call());
    const keeper: Keeper = new Keeper(this.#store, { ...this.clock, after }, (notice) => this.#notice(notice));
    return keeper;
  }
}
