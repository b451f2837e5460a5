// Every step of the diagram of states is taken by somebody, and nobody takes one that is not on it.

import { expect, it } from 'vitest';
import { FakeBrowser, type FakeTab } from '../doubles/browser.js';

const DIAGRAM = [
  'idle --> requesting_web',
  'requesting_web --> holding_web',
  'requesting_web --> switching_fallback',
  'switching_fallback --> holding_fallback',
  'switching_fallback --> backing_off',
  'holding_web --> renewing',
  'holding_fallback --> renewing',
  'renewing --> holding_web',
  'renewing --> holding_fallback',
  'holding_web --> releasing',
  'holding_fallback --> releasing',
  'backing_off --> requesting_web',
  'requesting_web --> backing_off',
  'releasing --> idle',
  'releasing --> faulted',
  'backing_off --> faulted',
];

/** What the diagram leaves out: what cannot be tried again, aborts, and leases that end by themselves. */
const BESIDE = [
  'requesting_web --> faulted',
  'switching_fallback --> faulted',
  'renewing --> idle',
  'holding_web --> idle',
  'holding_fallback --> idle',
  // A beat.
  'holding_web --> holding_web',
  'holding_fallback --> holding_fallback',
  'faulted --> requesting_web',
];

const LIMITED = { retryPolicy: { initialDelayMs: 10, maxDelayMs: 10, multiplier: 1, maxAttempts: 2 } };

/** Each walks a part of the diagram. */
const walks: Record<string, () => Promise<FakeTab>> = {
  async 'on the Web Lock, all goes well'() {
    const tab = new FakeBrowser().tab();
    const { lease } = await tab.lock.acquire();
    await tab.lock.renew({ lease });
    await tab.lock.release({ lease });
    expect(tab.states).toEqual(['idle', 'requesting_web', 'holding_web', 'renewing', 'holding_web', 'releasing', 'idle']);
    return tab;
  },
  async 'on the record, all goes well'() {
    const tab = new FakeBrowser().tab({ webLocks: false });
    const { lease } = await tab.lock.acquire();
    await tab.lock.renew({ lease });
    await tab.lock.release({ lease });
    return tab;
  },
  async 'the record is busy, and then it is not'() {
    const browser = new FakeBrowser();
    const holder = browser.tab({ webLocks: false });
    const { lease } = await holder.lock.acquire();
    holder.link.freeze();
    const tab = browser.tab({ webLocks: false });
    const acquired = tab.lock.acquire({ maxWaitMs: 20_000 });
    await browser.clock.advance(20_000);
    expect((await acquired).lease.fence).toBeGreaterThan(lease.fence as number);
    return tab;
  },
  async 'the Web Lock is late, and the retry budget is used up'() {
    const browser = new FakeBrowser();
    await browser.tab().lock.acquire();
    const tab = browser.tab();
    const acquired = tab.lock.acquire(LIMITED);
    const failed = expect(acquired).rejects.toMatchObject({ code: 'web-lock-unavailable' });
    await browser.clock.advance(2000);
    await failed;
    expect(tab.states.slice(-4)).toEqual(['backing_off', 'requesting_web', 'backing_off', 'faulted']);
    return tab;
  },
  async 'a release fails, and the next acquisition starts anew'() {
    const browser = new FakeBrowser();
    const tab = browser.tab();
    const { lease } = await tab.lock.acquire();
    browser.folder.record.failures.delete.push(new Error('no'));
    await expect(tab.lock.release({ lease })).rejects.toThrow();
    await tab.lock.acquire();
    return tab;
  },
  async 'what cannot be tried again'() {
    const browser = new FakeBrowser();
    const tab = browser.tab({ webLocks: false });
    browser.folder.failures.push(new Error('no'));
    await expect(tab.lock.acquire()).rejects.toMatchObject({ code: 'fallback-open-failed' });
    return tab;
  },
  async 'a lease that ends by itself'() {
    const browser = new FakeBrowser();
    const tab = browser.tab();
    await tab.lock.acquire();
    await browser.clock.advance(4000);
    browser.clock.jump(15_000);
    await browser.clock.advance(4000);
    expect(tab.probe.types).toEqual(['acquired', 'renewed', 'expired']);
    return tab;
  },
};

it('every edge of the diagram is taken, and no other that is not known', async () => {
  const taken = new Set<string>();
  for (const walk of Object.values(walks)) for (const edge of (await walk()).edges) taken.add(edge);
  expect(DIAGRAM.filter((edge) => !taken.has(edge))).toEqual([]);
  expect([...taken].filter((edge) => !DIAGRAM.includes(edge) && !BESIDE.includes(edge))).toEqual([]);
});
