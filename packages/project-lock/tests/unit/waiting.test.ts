// Waiting for another tab: in which order, how long, and what a holder that is gone or frozen means for it.

import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { step } from '../../src/step.js';
import { FakeBrowser } from '../doubles/browser.js';
import { settle } from '../doubles/fake-clock.js';

const never = Symbol('not yet');
const now = <T>(promise: Promise<T>) => Promise.race([promise, Promise.resolve(never)]);

describe('while another tab holds the project', () => {
  it('its release is enough: nobody waits for a beat, a delay or a deadline', async () => {
    const browser = new FakeBrowser();
    const [holder, tab] = [browser.tab(), browser.tab()];
    const { lease } = await holder.lock.acquire();
    const acquired = tab.lock.acquire();
    await browser.clock.advance(1500);
    expect(await now(acquired)).toBe(never);
    const before = browser.clock.now();
    await holder.lock.release({ lease });
    expect((await acquired).didFallback).toBe(false);
    expect(browser.clock.now()).toBe(before);
  });

  it('tabs get it in the order in which they came, though they back off meanwhile', async () => {
    const browser = new FakeBrowser();
    const tabs = [browser.tab(), browser.tab(), browser.tab()];
    const order: number[] = [];
    const done = tabs.map(async (tab, at) => {
      const { lease } = await tab.lock.acquire({ maxWaitMs: 60_000 });
      order.push(at);
      await new Promise<void>((end) => browser.clock.after(3000, end));
      await tab.lock.release({ lease });
    });
    await browser.clock.advance(20_000);
    await Promise.all(done);
    expect(order).toEqual([0, 1, 2]);
    expect(tabs[2]?.probe.of('backoff').length).toBeGreaterThan(1);
    expect(tabs[2]?.probe.of('switch-to-fallback')).toEqual([]);
  });

  it('a live holder is never displaced, however long it takes', async () => {
    const browser = new FakeBrowser();
    const [holder, tab] = [browser.tab(), browser.tab()];
    const { lease } = await holder.lock.acquire();
    const acquired = tab.lock.acquire({ maxWaitMs: 120_000 });
    const failed = expect(acquired).rejects.toMatchObject({ code: 'web-lock-unavailable' });
    await browser.clock.advance(121_000);
    await failed;
    expect(lease.signal?.aborted).toBe(false);
    expect(holder.probe.of('renewed').length).toBe(Math.floor(121_000 / 3000));
  });

  it('a tab that died with the Web Lock is not waited for', async () => {
    const browser = new FakeBrowser();
    const [holder, tab] = [browser.tab(), browser.tab()];
    const first = await holder.lock.acquire();
    const acquired = tab.lock.acquire();
    await browser.clock.advance(100);
    const before = browser.clock.now();
    browser.locks.die();
    const { lease, didFallback } = await acquired;
    expect(browser.clock.now()).toBe(before);
    expect(didFallback).toBe(false);
    expect(lease.fence).toBeGreaterThan(first.lease.fence as number);
  });

  it('the Web Lock alone is not enough against a tab that has none', async () => {
    const browser = new FakeBrowser();
    const [holder, tab] = [browser.tab({ webLocks: false }), browser.tab()];
    const { lease } = await holder.lock.acquire();
    const acquired = tab.lock.acquire();
    await browser.clock.advance(1000);
    expect(await now(acquired)).toBe(never);
    expect(tab.probe.of('backoff').length).toBeGreaterThan(0);
    await holder.lock.release({ lease });
    await browser.clock.advance(2000);
    expect((await acquired).lease.source).toBe('web-lock');
  });
});

it('tabs that all saw no record on their way in do not all get the project', async () => {
  const browser = new FakeBrowser();
  const tabs = Array.from({ length: 5 }, () => browser.tab({ webLocks: false }));
  const leave = await browser.folder.occupy();
  const tries = Promise.allSettled(tabs.map((tab) => tab.lock.acquire({ maxWaitMs: 0 })));
  await settle();
  leave();
  const tried = await tries;
  expect(tried.map(({ status }) => status).sort()).toEqual(['fulfilled', ...Array(4).fill('rejected')]);
});

describe('a worker that outlives its page', () => {
  const ask = (leaseId: string, webSince: number | null) => ({ type: 'acquire', leaseId, ttl: 15_000, webSince, mine: [] }) as const;
  const id = (n: number) => `00000000-0000-4000-8000-00000000000${n}`;
  const NOW = 1_767_225_600_000;

  it('and believes to have the Web Lock takes nothing from the tab that has it', () => {
    const next = step({ record: null, beside: null }, ask(id(1), NOW + 20), NOW + 25);
    const late = step(next.write ?? { record: null, beside: null }, ask(id(2), NOW), NOW + 30);
    expect(late).toEqual({ write: null, outcome: { type: 'refused', code: 'HELD' } });
  });

  it('is told apart from a tab that got the Web Lock from a dead one', () => {
    const dead = step({ record: null, beside: null }, ask(id(1), NOW), NOW + 5);
    const next = step(dead.write ?? { record: null, beside: null }, ask(id(2), NOW + 20), NOW + 25);
    expect(next.outcome.type).toBe('done');
  });
});

describe('a worker that does not answer', () => {
  const silent = (browser: FakeBrowser) => {
    const tab = browser.tab({ webLocks: false });
    tab.link.mute();
    return tab;
  };

  it('does not keep the caller longer than it wants to wait', async () => {
    const browser = new FakeBrowser();
    const tab = silent(browser);
    const failed = expect(tab.lock.acquire({ maxWaitMs: 2000 })).rejects.toMatchObject({ code: 'fallback-read-failed' });
    await browser.clock.advance(2000 + 2999);
    expect(tab.probe.types).toEqual(['switch-to-fallback']);
    await browser.clock.advance(1);
    await failed;
  });

  it('does not keep it from going away', async () => {
    const browser = new FakeBrowser();
    const tab = silent(browser);
    const abort = new AbortController();
    const failed = expect(tab.lock.acquire({ signal: abort.signal })).rejects.toMatchObject({ code: 'web-lock-aborted' });
    await browser.clock.advance(10);
    abort.abort();
    await browser.clock.advance(300);
    await failed;
  });

  it('is replaced, and the next attempt has the project', async () => {
    const browser = new FakeBrowser();
    const tab = silent(browser);
    const acquired = tab.lock.acquire({ maxWaitMs: 60_000 });
    await browser.clock.advance(5000 + 3000);
    expect(tab.probe.of('backoff')[0]?.error).toMatchObject({ code: 'fallback-read-failed', retryable: true });
    await browser.clock.advance(200);
    const { lease } = await acquired;
    expect(browser.record).toMatchObject({ leaseId: lease.leaseId });
    await tab.lock.release({ lease });
    expect(browser.clock.timers).toBe(0);
  });
});

describe('a frozen holder', () => {
  it('is displaced when its lease has run out, and learns it when it wakes', async () => {
    const browser = new FakeBrowser();
    const [holder, tab] = [browser.tab(), browser.tab()];
    const frozen = await holder.lock.acquire();
    holder.link.freeze();
    const acquired = tab.lock.acquire({ maxWaitMs: 20_000 });
    await browser.clock.advance(14_999);
    expect(await now(acquired)).toBe(never);
    await browser.clock.advance(5000);
    const { lease, didFallback } = await acquired;
    expect(didFallback).toBe(true);
    expect(tab.probe.types.filter((type) => type !== 'backoff')).toEqual(['switch-to-fallback', 'acquired']);
    expect(lease.fence).toBeGreaterThan(frozen.lease.fence as number);
    holder.link.thaw();
    await browser.clock.advance(0);
    expect(holder.probe.types).toEqual(['acquired', 'expired']);
    await expect(holder.lock.renew({ lease: frozen.lease })).rejects.toMatchObject({ code: 'lease-expired' });
    expect(frozen.lease.signal?.reason).toMatchObject({ code: 'lease-expired' });
    expect(browser.record).toMatchObject({ leaseId: lease.leaseId });
  });

  it('cannot release what is another tab by then', async () => {
    const browser = new FakeBrowser();
    const [holder, tab] = [browser.tab({ webLocks: false }), browser.tab({ webLocks: false })];
    const frozen = await holder.lock.acquire();
    holder.link.freeze();
    browser.clock.jump(15_000);
    const acquired = tab.lock.acquire();
    await browser.clock.advance(5000);
    const { lease } = await acquired;
    await expect(holder.lock.release({ lease: frozen.lease })).rejects.toMatchObject({ code: 'lease-expired' });
    expect(browser.record).toMatchObject({ leaseId: lease.leaseId });
  });
});

describe('a page in the cache that waits for its turn', () => {
  const three = async () => {
    const browser = new FakeBrowser();
    const [holder, cached, next] = [browser.tab(), browser.tab(), browser.tab()];
    const { lease } = await holder.lock.acquire();
    const waits = cached.lock.acquire({ maxWaitMs: 60_000 });
    await browser.clock.advance(10);
    return { browser, holder, cached, next, lease, waits };
  };

  it('leaves the queue, and the next one has the Web Lock at once', async () => {
    const { browser, holder, cached, next, lease } = await three();
    cached.lock.pause();
    expect(browser.locks.waiting).toBe(0);
    const acquired = next.lock.acquire();
    await holder.lock.release({ lease });
    expect((await acquired).didFallback).toBe(false);
  });

  it('lines up again when it comes back, once, and does not wait for a delay', async () => {
    const { browser, holder, cached, lease, waits } = await three();
    await browser.clock.advance(1500);
    cached.lock.pause();
    cached.lock.pause();
    cached.lock.resume();
    cached.lock.resume();
    expect(browser.locks.waiting).toBe(1);
    const before = browser.clock.now();
    await holder.lock.release({ lease });
    expect(await waits).toMatchObject({ lease: { source: 'web-lock' }, didFallback: false });
    expect(browser.clock.now()).toBe(before);
  });

  it('is told the truth when its time was up meanwhile', async () => {
    const { browser, cached, waits } = await three();
    const failed = expect(waits).rejects.toMatchObject({ code: 'web-lock-unavailable' });
    cached.lock.pause();
    await browser.clock.advance(61_000);
    cached.lock.resume();
    await failed;
    expect(browser.locks.waiting).toBe(0);
  });

  it('that gave up before is not put back into the queue', async () => {
    const { browser, cached, waits } = await three();
    const failed = expect(waits).rejects.toMatchObject({ code: 'web-lock-unavailable' });
    await browser.clock.advance(61_000);
    await failed;
    cached.lock.pause();
    cached.lock.resume();
    expect(browser.locks.waiting).toBe(0);
  });

  it('keeps what it has: a lease is not given up for the cache', async () => {
    const { browser, holder, lease } = await three();
    holder.lock.pause();
    await browser.clock.advance(0);
    expect(lease.signal?.aborted).toBe(false);
    expect(browser.locks.isHeld).toBe(true);
  });
});

describe('patience', () => {
  const held = async () => {
    const browser = new FakeBrowser();
    await browser.tab({ webLocks: false }).lock.acquire();
    return { browser, tab: browser.tab({ webLocks: false }) };
  };

  it('the delay is min(maxDelay, initial * multiplier^(attempt-1)), with an event each', async () => {
    const { browser, tab } = await held();
    const retryPolicy = { initialDelayMs: 100, maxDelayMs: 1000, multiplier: 3, maxAttempts: 6 };
    const failed = expect(tab.lock.acquire({ maxWaitMs: 60_000, retryPolicy })).rejects.toMatchObject({
      code: 'web-lock-unavailable',
    });
    await browser.clock.advance(10_000);
    await failed;
    expect(tab.probe.of('backoff').map(({ delayMs }) => delayMs)).toEqual([100, 300, 900, 1000, 1000]);
    expect(tab.probe.of('backoff').map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5]);
    expect(tab.probe.types.at(-1)).toBe('acquire-failed');
  });

  it.each([0, 1, 777, 5000])('maxWaitMs of %s is kept to', async (maxWaitMs) => {
    const { browser, tab } = await held();
    const start = browser.clock.now();
    let end = 0;
    const failed = tab.lock.acquire({ maxWaitMs }).catch(() => (end = browser.clock.now()));
    await browser.clock.advance(10_000);
    await failed;
    expect(end - start).toBe(maxWaitMs);
  });

  it.each([-3_600_000, 3_600_000])('maxWaitMs is kept to when the wall clock is set by %s ms meanwhile', async (step) => {
    const browser = new FakeBrowser();
    const [holder, tab] = [browser.tab(), browser.tab()];
    await holder.lock.acquire();
    const start = browser.clock.monotonic();
    let end = 0;
    const failed = tab.lock.acquire({ maxWaitMs: 3000 }).catch(() => (end = browser.clock.monotonic()));
    await browser.clock.advance(1500);
    browser.clock.set(step);
    await browser.clock.advance(20_000);
    await failed;
    expect(end - start).toBe(3000);
  });

  it('is 5000 ms if nothing else is said', async () => {
    const { browser, tab } = await held();
    const failed = expect(tab.lock.acquire()).rejects.toMatchObject({ code: 'web-lock-unavailable' });
    await browser.clock.advance(4999);
    expect(tab.probe.types).not.toContain('acquire-failed');
    await browser.clock.advance(1);
    await failed;
    expect(tab.probe.of('backoff').map(({ delayMs }) => delayMs)).toEqual([200, 400, 800, 1600, 2000]);
  });

  it.each([NaN, -5, Infinity])('%s as a number from a caller does no harm', async (odd) => {
    const { browser, tab } = await held();
    const retryPolicy = { initialDelayMs: odd, maxDelayMs: odd, multiplier: odd, maxAttempts: 3 };
    const failed = expect(tab.lock.acquire({ maxWaitMs: 100, retryPolicy })).rejects.toMatchObject({
      code: 'web-lock-unavailable',
    });
    await browser.clock.advance(1000);
    await failed;
  });

  it('is without end if the caller says so', async () => {
    const browser = new FakeBrowser();
    const [holder, tab] = [browser.tab(), browser.tab()];
    const { lease } = await holder.lock.acquire({ maxWaitMs: Infinity });
    const acquired = tab.lock.acquire({ maxWaitMs: Infinity });
    await browser.clock.advance(600_000);
    expect(await now(acquired)).toBe(never);
    await holder.lock.release({ lease });
    expect((await acquired).didFallback).toBe(false);
  });

  it('a step that is stuck behind a frozen tab is busy, not broken', async () => {
    const browser = new FakeBrowser();
    browser.folder.stuck = true;
    const tab = browser.tab();
    const acquired = tab.lock.acquire();
    await browser.clock.advance(300);
    browser.folder.stuck = false;
    await browser.clock.advance(1000);
    await acquired;
    expect(tab.probe.events[0]).toMatchObject({ type: 'backoff', error: { code: 'web-lock-unavailable' } });
  });
});

it('a signal that is used again and again gathers no listeners', async () => {
  const browser = new FakeBrowser();
  const [holder, tab] = [browser.tab(), browser.tab()];
  const { signal } = new AbortController();
  for (let cycle = 0; cycle < 5; cycle += 1) {
    const { lease } = await holder.lock.acquire({ signal });
    const acquired = tab.lock.acquire({ signal });
    await browser.clock.advance(2000);
    await holder.lock.release({ lease });
    await tab.lock.release({ lease: (await acquired).lease });
  }
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

describe('maxWaitMs of 0', () => {
  it('still gets a lock that is free, on Web Locks', async () => {
    expect((await new FakeBrowser().tab().lock.acquire({ maxWaitMs: 0 })).lease.source).toBe('web-lock');
  });
});
