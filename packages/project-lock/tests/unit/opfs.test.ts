// The record in files, over a file system that can be stopped between two calls: what is there when a step is answered, what
// becomes of it afterwards, and what the next one finds.

import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Keeper } from '../../src/keeper.js';
import { openOpfs } from '../../src/opfs.js';
import type { Reply } from '../../src/reply.js';
import type { Ask } from '../../src/step.js';
import { FakeClock, settle } from '../doubles/fake-clock.js';
import { FakeOpfs, FakeWorker } from '../doubles/fake-opfs.js';

const [RECORD, FENCE] = ['.lock', '.lock.fence'];
const STAY_MS = 4;
const id = (n: number) => `00000000-0000-4000-8000-00000000000${n}`;

beforeEach(() => {
  // The stay in the section is the only thing that is timed here.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  vi.stubGlobal('FileSystemFileHandle', { prototype: { createSyncAccessHandle: null } });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

class Tab {
  readonly worker: FakeWorker;
  readonly replies: Reply[] = [];
  #keeper!: Keeper;

  constructor(opfs: FakeOpfs) {
    this.worker = new FakeWorker(opfs);
  }

  static async open(opfs: FakeOpfs, clock = new FakeClock()): Promise<Tab> {
    const tab = new Tab(opfs);
    vi.stubGlobal('navigator', tab.worker.navigator);
    const store = await openOpfs();
    if (!store) throw new Error('not opened');
    tab.#keeper = new Keeper(store, clock, () => undefined);
    return tab;
  }

  /** Asks, and lets everything happen that can. */
  async ask(ask: Ask, patienceMs = 0): Promise<Reply | undefined> {
    const before = this.replies.length;
    void this.#keeper.ask(ask, patienceMs, (reply) => this.replies.push(reply));
    await settle();
    // The last pause may go beyond that.
    for (let ms = 0; patienceMs > 0 && ms < patienceMs + 50; ms += 10) {
      await vi.advanceTimersByTimeAsync(10);
      await settle();
    }
    return this.replies[before];
  }

  acquire(leaseId: string, webSince: number | null = 1): Promise<Reply | undefined> {
    return this.ask({ type: 'acquire', leaseId, ttl: 15_000, webSince, mine: [] });
  }

  release(leaseId: string): Promise<Reply | undefined> {
    return this.ask({ type: 'release', leaseId, mine: [leaseId] });
  }
}

/** A tab that has given back; its record is not removed until `goOn` is called. */
async function released() {
  const [opfs, clock] = [new FakeOpfs(), new FakeClock()];
  const tab = await Tab.open(opfs, clock);
  let goOn = () => {};
  opfs.removals.push(new Promise((go) => (goOn = go)));
  const acquired = await tab.acquire(id(1));
  const back = await tab.release(id(1));
  return { opfs, clock, tab, acquired, back, goOn };
}

it('who gives back at once is answered when the record says that it is over; then it is removed, and all is closed', async () => {
  const { opfs, clock, back, goOn } = await released();
  expect(back).toMatchObject({ type: 'done', over: false });
  const record = JSON.parse(opfs.text(RECORD) as string);
  expect(record).toEqual({ leaseId: id(1), expiresAt: expect.any(Number) });
  expect(record.expiresAt).toBeLessThan(clock.now());
  expect(JSON.parse(opfs.text(FENCE) as string).grant).toBeNull();
  expect(opfs.open).toEqual([FENCE]);
  goOn();
  await settle();
  expect([...opfs.files.keys()]).toEqual([FENCE]);
  expect(opfs.open).toEqual([]);
});

it('the next step of the tab waits for the removal, in the section that it is still in', async () => {
  const { opfs, tab, acquired, goOn } = await released();
  expect(await tab.acquire(id(2))).toBeUndefined();
  goOn();
  await settle();
  const [, , next] = tab.replies;
  expect(next).toMatchObject({ type: 'done' });
  expect(next?.type === 'done' && next.fence).toBeGreaterThan((acquired?.type === 'done' && acquired.fence) || 0);
  expect(JSON.parse(opfs.text(RECORD) as string).leaseId).toBe(id(2));
  expect(tab.worker.opened.filter((name) => name === FENCE)).toEqual([FENCE]);
});

it('a tab that dies before the removal is in nobody\'s way', async () => {
  const { opfs, clock, tab, acquired } = await released();
  const next = await Tab.open(opfs, clock);
  expect(await next.acquire(id(2), null)).toEqual({ type: 'refused', code: 'BUSY' });
  tab.worker.die();
  const got = await next.acquire(id(2), null);
  expect(got?.type === 'done' && got.fence).toBeGreaterThan((acquired?.type === 'done' && acquired.fence) || 0);
  expect(JSON.parse(opfs.text(RECORD) as string).leaseId).toBe(id(2));
});

it('a browser that fails for a while, because a process has died, is asked again', async () => {
  const opfs = new FakeOpfs();
  const tab = await Tab.open(opfs);
  const ask: Ask = { type: 'acquire', leaseId: id(1), ttl: 15_000, webSince: null, mine: [] };
  const fail = (times: number) => opfs.openings.push(...Array(times).fill(new DOMException('Unknown failure', 'UnknownError')));
  fail(100);
  expect(await tab.ask(ask, 200)).toMatchObject({ type: 'failed', stage: 'open' });
  opfs.openings.length = 0;
  fail(3);
  expect(await tab.ask(ask, 1000)).toMatchObject({ type: 'done' });
});

it('a removal that fails after the answer harms nobody', async () => {
  const [opfs, clock] = [new FakeOpfs(), new FakeClock()];
  const [tab, next] = [await Tab.open(opfs, clock), await Tab.open(opfs, clock)];
  opfs.removals.push(new DOMException('held elsewhere', 'NoModificationAllowedError'));
  await tab.acquire(id(1));
  expect(await tab.release(id(1))).toMatchObject({ type: 'done' });
  expect(opfs.open).toEqual([]);
  expect(await next.acquire(id(2), null)).toMatchObject({ type: 'done' });
});

it('only a tab that has the Web Lock stays in the section, and not for long', async () => {
  const opfs = new FakeOpfs();
  const tab = await Tab.open(opfs);
  await tab.acquire(id(1), null);
  expect(opfs.open).toEqual([]);
  await tab.release(id(1));
  expect([...opfs.files.keys()]).toEqual([FENCE]);
  await tab.acquire(id(2));
  expect(opfs.open.sort()).toEqual([RECORD, FENCE]);
  vi.advanceTimersByTime(STAY_MS);
  expect(opfs.open).toEqual([]);
  await tab.release(id(2));
  expect([...opfs.files.keys()]).toEqual([FENCE]);
  expect(opfs.open).toEqual([]);
});

it('a record that cannot be made is told, and nothing is left open', async () => {
  const opfs = new FakeOpfs();
  const tab = await Tab.open(opfs);
  opfs.failures.push(new DOMException('no room', 'QuotaExceededError'));
  expect(await tab.acquire(id(1))).toMatchObject({ type: 'failed', stage: 'write', why: 'QuotaExceededError: no room' });
  expect(opfs.open).toEqual([]);
  expect(await tab.acquire(id(2))).toMatchObject({ type: 'done' });
});
