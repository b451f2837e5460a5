// Somebody sets the wall clock, by any amount and in either direction: no moment with two holders, no holder that loses its
// lease by it, and nobody who waits for longer than a lease for a holder that is gone.

import { describe, expect, it } from 'vitest';
import { FakeBrowser, type FakeTab } from '../doubles/browser.js';

const HOUR_MS = 3_600_000;
const STEPS = [1000, 20_000, HOUR_MS, 2 * HOUR_MS, 24 * 365 * HOUR_MS].flatMap((ms) => [ms, -ms]);
const LEASE_MS = 15_000;
/** Between two looks at who holds the project. */
const LOOK_MS = 50;

/** Whether the tab would write now. */
function writes(tab: FakeTab): boolean {
  const granted = tab.probe.events.filter(({ type }) => type === 'acquired').length;
  return granted > tab.probe.events.filter(({ type }) => type === 'expired' || type === 'released').length;
}

/** Lets the time pass, and says how many tabs wrote at once at the most. */
async function most(browser: FakeBrowser, tabs: FakeTab[], ms: number): Promise<number> {
  let found = 0;
  for (let passed = 0; passed < ms; passed += LOOK_MS) {
    await browser.clock.advance(LOOK_MS);
    found = Math.max(found, tabs.filter(writes).length);
  }
  return found;
}

describe.each([
  ['on Web Locks', true],
  ['on the record alone', false],
])('the clock is set, %s', (_name, webLocks) => {
  it.each(STEPS)('by %s ms: a tab that waits, and one that comes then, do not displace the holder', async (step) => {
    const browser = new FakeBrowser();
    const [holder, waits, comes] = [browser.tab({ webLocks }), browser.tab({ webLocks }), browser.tab({ webLocks: false })];
    const { lease } = await holder.lock.acquire();
    const refused = [waits.lock.acquire({ maxWaitMs: 20_000 }).catch(() => 'refused')];
    expect(await most(browser, [holder, waits], 2000)).toBe(1);
    browser.clock.set(step);
    refused.push(comes.lock.acquire({ maxWaitMs: 18_000 }).catch(() => 'refused'));
    expect(await most(browser, [holder, waits, comes], 22_000)).toBe(1);
    expect(await Promise.all(refused)).toEqual(['refused', 'refused']);
    expect(lease.signal?.aborted).toBe(false);
    await holder.lock.release({ lease });
  });

  it.each(STEPS)('by %s ms: a holder that is gone is not waited for longer than a lease', async (step) => {
    const browser = new FakeBrowser();
    const [holder, next] = [browser.tab({ webLocks }), browser.tab({ webLocks })];
    const { lease } = await holder.lock.acquire();
    holder.link.freeze();
    browser.clock.set(step);
    const acquired = next.lock.acquire({ maxWaitMs: 60_000, retryPolicy: { initialDelayMs: 50, maxDelayMs: 50, multiplier: 1, maxAttempts: Infinity } });
    const start = browser.clock.monotonic();
    await browser.clock.advance(LEASE_MS + 2000);
    expect((await acquired).lease.fence).toBeGreaterThan(lease.fence as number);
    expect(browser.clock.monotonic() - start).toBeLessThanOrEqual(LEASE_MS + 2000);
  });

  it.each(STEPS)('by %s ms while the holder gives back: it has not lost anything', async (step) => {
    const browser = new FakeBrowser();
    const holder = browser.tab({ webLocks });
    const { lease } = await holder.lock.acquire();
    browser.clock.set(step);
    await expect(holder.lock.acquire()).rejects.toMatchObject({ code: 'lease-mismatch' });
    await holder.lock.renew({ lease });
    await holder.lock.release({ lease });
    expect(holder.probe.types.at(-1)).toBe('released');
    expect(browser.record).toBeNull();
  });
});

it('a lease that is over by the monotonic clock is over, also if the wall clock was set back', async () => {
  const browser = new FakeBrowser();
  const tab = browser.tab({ webLocks: false });
  const { lease } = await tab.lock.acquire();
  browser.clock.jump(LEASE_MS);
  browser.clock.set(-LEASE_MS);
  await expect(tab.lock.renew({ lease })).rejects.toMatchObject({ code: 'lease-expired' });
  // It was removed by whoever found it to be over, so that nobody watches it first.
  expect(browser.record).toBeNull();
});
