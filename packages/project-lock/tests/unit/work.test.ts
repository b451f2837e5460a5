// `withProjectLock`, listeners and leases as callers see them.

import { describe, expect, it } from 'vitest';
import { Events } from '../../src/events.js';
import { FakeBrowser } from '../doubles/browser.js';

describe('withProjectLock', () => {
  it('gives back and hands on the result', async () => {
    const browser = new FakeBrowser();
    const tab = browser.tab();
    await expect(tab.lock.with(undefined, async ({ source }) => source)).resolves.toBe('web-lock');
    expect(tab.probe.types).toEqual(['acquired', 'released']);
    expect(tab.probe.events[1]?.reason).toBe('completed');
    expect([browser.record, browser.locks.isHeld, browser.clock.timers]).toEqual([null, false, 0]);
  });

  it('gives back and hands on the error', async () => {
    const browser = new FakeBrowser();
    const tab = browser.tab();
    const error = new Error('the work failed');
    await expect(tab.lock.with({}, () => Promise.reject(error))).rejects.toBe(error);
    expect(tab.probe.events[1]).toMatchObject({ type: 'released', reason: 'aborted' });
    expect(browser.record).toBeNull();
  });

  it('also if the work throws before it has begun', async () => {
    const tab = new FakeBrowser().tab();
    const work = () => {
      throw new Error('at once');
    };
    await expect(tab.lock.with({}, work)).rejects.toThrow('at once');
    expect(tab.probe.types).toEqual(['acquired', 'released']);
  });

  it('gives back although the signal of the caller has been aborted meanwhile', async () => {
    const browser = new FakeBrowser();
    const tab = browser.tab();
    const abort = new AbortController();
    await tab.lock.with({ signal: abort.signal }, async () => abort.abort());
    expect(tab.probe.types).toEqual(['acquired', 'released']);
    expect(browser.record).toBeNull();
  });

  it('does not begin what it could not get', async () => {
    const tab = new FakeBrowser().tab();
    let begun = false;
    const work = async () => void (begun = true);
    await expect(tab.lock.with({ signal: AbortSignal.abort() }, work)).rejects.toMatchObject({ code: 'web-lock-aborted' });
    expect(begun).toBe(false);
  });

  it('says when the lease was lost under the work', async () => {
    const browser = new FakeBrowser();
    const tab = browser.tab();
    const done = tab.lock.with({}, async () => browser.clock.jump(15_000));
    await expect(done).rejects.toMatchObject({ code: 'lease-expired' });
    expect(tab.probe.types).toEqual(['acquired', 'expired']);
  });

  it('hands on the error of the work even if giving back fails', async () => {
    const browser = new FakeBrowser();
    const tab = browser.tab();
    browser.folder.record.failures.delete.push(new Error('disk'));
    await expect(tab.lock.with({}, () => Promise.reject(new Error('work')))).rejects.toThrow('work');
    expect(tab.probe.types).toEqual(['acquired', 'release-failed']);
  });
});

describe('listeners', () => {
  it('that throw reach neither the lock nor each other', async () => {
    const tab = new FakeBrowser().tab();
    const heard: string[] = [];
    tab.lock.events.subscribe(() => {
      throw new Error('a bug in the page');
    });
    tab.lock.events.subscribe(({ type }) => heard.push(type));
    await tab.lock.with({}, async () => undefined);
    expect(heard).toEqual(['acquired', 'released']);
  });

  it('hear nothing after they have left, not even in the middle of an event', () => {
    const events = new Events();
    const heard: string[] = [];
    const listen = () => void heard.push('x');
    const [first, second] = [events.subscribe(listen), events.subscribe(listen)];
    events.emit({ type: 'acquired' });
    first.unsubscribe();
    first.unsubscribe();
    events.emit({ type: 'acquired' });
    second.unsubscribe();
    events.emit({ type: 'acquired' });
    expect(heard).toEqual(['x', 'x', 'x']);
  });
});

describe('a lease', () => {
  it('can be cloned and turned into JSON', async () => {
    const { lease } = await new FakeBrowser().tab().lock.acquire();
    const { leaseId, expiresAt, source, fence } = lease;
    expect(JSON.parse(JSON.stringify(lease))).toEqual({ leaseId, expiresAt, source, fence });
    expect(structuredClone(lease)).toEqual({ leaseId, expiresAt, source, fence });
    expect(lease.signal).toBeInstanceOf(AbortSignal);
    expect(Object.isFrozen(lease)).toBe(true);
  });

  it('is known by its id: a copy of it is as good', async () => {
    const browser = new FakeBrowser();
    const tab = browser.tab();
    const { lease } = await tab.lock.acquire();
    const copy = JSON.parse(JSON.stringify(lease));
    expect((await tab.lock.renew({ lease: copy })).signal).toBe(lease.signal);
    await tab.lock.release({ lease: copy });
    expect(browser.record).toBeNull();
  });
});
