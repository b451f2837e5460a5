// What each situation of a browser gives: the table of the README, row by row.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Chromium, INSECURE_HOST } from './support/chromium.js';

let browser: Chromium;
beforeEach(async () => void (browser = await Chromium.start()));
afterEach(() => browser.stop());

describe('what a browser situation gives', () => {
  it('everything: the Web Lock and the record in OPFS', async () => {
    const tab = await browser.tab();
    const { lease, didFallback } = await tab.evaluate(() => window.tab.acquire());
    expect(lease).toMatchObject({ source: 'web-lock' });
    expect(didFallback).toBe(false);
    const files = await tab.evaluate(async () => {
      const found: Record<string, string> = {};
      const walk = async (folder: FileSystemDirectoryHandle, path: string) => {
        for await (const [name, entry] of folder as unknown as AsyncIterable<[string, FileSystemHandle]>) {
          if (entry.kind === 'directory') await walk(entry as FileSystemDirectoryHandle, `${path}${name}/`);
          else found[path + name] = await (await (entry as FileSystemFileHandle).getFile()).text();
        }
      };
      await walk(await navigator.storage.getDirectory(), '');
      return found;
    });
    expect(Object.keys(files).sort()).toEqual(['project/.lock', 'project/.lock.fence']);
    expect(files['project/.lock']).toBe(JSON.stringify({ leaseId: lease?.leaseId, expiresAt: lease?.expiresAt }));
    expect(await tab.evaluate(() => window.tab.release())).toEqual({});
  });
  it('insecure', async () => {
    const tab = await browser.tab([], browser.url(undefined, INSECURE_HOST));
    expect(await tab.evaluate(() => window.tab.acquire())).toMatchObject({ lease: { source: 'idb-lock' }, didFallback: true });
    expect(await tab.evaluate(() => window.tab.release())).toEqual({});
  });
});
