// What keeps a lease alive, and what happens when nothing does: beats, pages that come back, workers that die.

import { describe, expect, it } from 'vitest';
import { Turn } from '../../src/turn.js';
import { FakeBrowser } from '../doubles/browser.js';
import { settle } from '../doubles/fake-clock.js';

describe('beats', () => {
  it('keep the lease for as long as it is held, and stop with it', async () => {
    const browser = new FakeBrowser();
    const tab = browser.tab();
    const { lease } = await tab.lock.acquire();
    await browser.clock.advance(960 * 3000);
    expect(lease.signal?.aborted).toBe(false);
    expect(tab.probe.of('renewed').length).toBe(960);
    expect(browser.record).toEqual({ leaseId: lease.leaseId, expiresAt: browser.clock.now() + 15_000 });
    await tab.lock.release({ lease });
    expect(tab.probe.types.at(-1)).toBe('released');
    expect(browser.clock.timers).toBe(0);
  });

  it('go on with the length of the last renewal', async () => {
    const browser = new FakeBrowser();
    const tab = browser.tab();
    const { lease } = await tab.lock.acquire();
    await tab.lock.renew({ lease, extendByMs: 60_000 });
    await browser.clock.advance(3000);
    expect(browser.record).toMatchObject({ expiresAt: browser.clock.now() + 60_000 });
    await tab.lock.renew({ lease, extendByMs: 400 });
    await browser.clock.advance(10_000);
    expect(lease.signal?.aborted).toBe(false);
  });

  it('survive a disk that fails for a while', async () => {
    const browser = new FakeBrowser();
    const tab = browser.tab();
    const { lease } = await tab.lock.acquire();
    browser.folder.record.failures.write.push(...Array.from({ length: 10 }, () => new Error('full')));
    await browser.clock.advance(14_000);
    expect(lease.signal?.aborted).toBe(false);
    expect(tab.probe.types).toContain('renewed');
  });

  it('give up when the lease has run out meanwhile', async () => {
    const browser = new FakeBrowser();
    const tab = browser.tab();
    const { lease } = await tab.lock.acquire();
    browser.folder.record.failures.read.push(...Array.from({ length: 100 }, () => new Error('gone')));
    await browser.clock.advance(15_000);
    expect(lease.signal?.reason).toMatchObject({ code: 'lease-expired' });
    expect(tab.probe.types).toEqual(['acquired', 'expired']);
    expect(browser.clock.timers).toBe(0);
    expect(browser.locks.isHeld).toBe(false);
  });

  it('tell a holder whose record somebody removed', async () => {
    const browser = new FakeBrowser();
    const tab = browser.tab();
    const { lease } = await tab.lock.acquire();
    browser.folder.record.text = null;
    await browser.clock.advance(4000);
    expect(lease.signal?.aborted).toBe(true);
    expect(tab.probe.types).toEqual(['acquired', 'expired']);
  });

  it('mend a record that somebody damaged while it is held', async () => {
    const browser = new FakeBrowser();
    const tab = browser.tab();
    const { lease } = await tab.lock.acquire();
    browser.folder.record.text = '{"leaseId":';
    await browser.clock.advance(3000);
    expect(lease.signal?.aborted).toBe(false);
    expect(browser.record).toEqual({ leaseId: lease.leaseId, expiresAt: browser.clock.now() + 15_000 });
  });
});

describe('a page that comes back', () => {
  it('keeps what it still has', async () => {
    const browser = new FakeBrowser();
    const tab = browser.tab();
    const { lease } = await tab.lock.acquire();
    browser.clock.jump(14_000);
    tab.lock.resume();
    await browser.clock.advance(0);
    expect(tab.probe.types).toEqual(['acquired', 'renewed']);
    expect(lease.signal?.aborted).toBe(false);
  });

  it('learns at once that it has been displaced', async () => {
    const browser = new FakeBrowser();
    const [tab, other] = [browser.tab({ webLocks: false }), browser.tab({ webLocks: false })];
    const { lease } = await tab.lock.acquire();
    tab.link.freeze();
    const acquired = other.lock.acquire({ maxWaitMs: 60_000 });
    await browser.clock.advance(20_000);
    await acquired;
    tab.lock.resume();
    await browser.clock.advance(0);
    expect(lease.signal?.aborted).toBe(true);
    expect(tab.probe.types.at(-1)).toBe('expired');
  });

  it('has nothing to ask if it held nothing', async () => {
    const browser = new FakeBrowser();
    const tab = browser.tab();
    tab.lock.resume();
    tab.lock.abandon();
    await browser.clock.advance(1000);
    expect(browser.folder.entered).toBe(0);
  });

  it('that goes for good gives the lease back', async () => {
    const browser = new FakeBrowser();
    const tab = browser.tab({ webLocks: false });
    await tab.lock.acquire();
    tab.lock.abandon();
    await browser.clock.advance(0);
    expect(browser.record).toBeNull();
  });

  it('that goes for good while it acquires leaves no lease behind', async () => {
    const browser = new FakeBrowser();
    const tab = browser.tab({ webLocks: false });
    const leave = await browser.folder.occupy();
    const acquired = tab.lock.acquire();
    await settle();
    tab.lock.abandon();
    leave();
    const { lease } = await acquired;
    await browser.clock.advance(0);
    expect(browser.record).toBeNull();
    await expect(tab.lock.renew({ lease })).rejects.toMatchObject({ code: 'lease-expired' });
    expect(browser.clock.timers).toBe(0);
  });
});

describe('a worker that dies', () => {
  it('is replaced, and the lease goes on', async () => {
    const browser = new FakeBrowser();
    const tab = browser.tab();
    const { lease } = await tab.lock.acquire();
    tab.link.kill();
    await browser.clock.advance(60_000);
    expect(lease.signal?.aborted).toBe(false);
    expect(browser.record).toMatchObject({ leaseId: lease.leaseId });
  });

  it('and is replaced by one that cannot write at first is tried again', async () => {
    const browser = new FakeBrowser();
    const tab = browser.tab();
    const { lease } = await tab.lock.acquire();
    tab.link.kill();
    browser.folder.record.failures.write.push(...Array.from({ length: 5 }, () => new Error('full')));
    await browser.clock.advance(60_000);
    expect(lease.signal?.aborted).toBe(false);
    expect(browser.record).toMatchObject({ leaseId: lease.leaseId });
  });

  it('again and again costs the lease when its time is up, and not before', async () => {
    const browser = new FakeBrowser();
    const tab = browser.tab();
    const { lease } = await tab.lock.acquire();
    tab.link.dead = 'out of memory';
    tab.link.kill();
    await browser.clock.advance(14_000);
    expect(lease.signal?.aborted).toBe(false);
    await browser.clock.advance(2000);
    expect(lease.signal?.aborted).toBe(true);
    expect(browser.clock.timers).toBe(0);
    expect(tab.link.asked).toBeLessThanOrEqual(1 + 15_000 / 500);
  });
});

describe('a worker that falls silent', () => {
  it('is replaced in time, and the lease goes on', async () => {
    const browser = new FakeBrowser();
    const tab = browser.tab();
    const { lease } = await tab.lock.acquire();
    await browser.clock.advance(6000);
    tab.link.mute();
    await browser.clock.advance(60_000);
    expect(lease.signal?.aborted).toBe(false);
    expect(browser.record).toMatchObject({ leaseId: lease.leaseId });
    await tab.lock.release({ lease });
    expect(browser.clock.timers).toBe(0);
  });

  it('does not keep a release for ever', async () => {
    const browser = new FakeBrowser();
    const tab = browser.tab();
    const { lease } = await tab.lock.acquire();
    tab.link.mute();
    const failed = expect(tab.lock.release({ lease })).rejects.toMatchObject({ code: 'fallback-read-failed' });
    await browser.clock.advance(8000);
    await failed;
    expect((await tab.lock.acquire({ maxWaitMs: 0 })).didFallback).toBe(false);
  });
});

it('a Web Lock that is taken away ends the lease: whoever has it takes this tab for dead', async () => {
  const browser = new FakeBrowser();
  const tab = browser.tab();
  const { lease } = await tab.lock.acquire();
  browser.locks.steal();
  await browser.clock.advance(0);
  expect(lease.signal?.reason).toMatchObject({ code: 'lease-expired' });
  expect(tab.probe.types).toEqual(['acquired', 'expired']);
  expect(browser.record).toBeNull();
});

it('a Web Lock that is taken away when it was let go already costs nothing', async () => {
  const browser = new FakeBrowser();
  const turn = new Turn(browser.locks, browser.clock, true);
  await turn.settled;
  let lost = false;
  turn.onLost(() => (lost = true));
  turn.leave();
  browser.locks.steal();
  await settle();
  expect([turn.state, lost]).toEqual(['failed', false]);
});
