// The fence from end to end: a tab that was stopped for longer than its lease wakes and saves, and neither a server nor a
// database takes it.

import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { Chromium } from './support/chromium.js';
import { rendererOf } from './support/processes.js';
import { standStill } from './support/still.js';

interface Store {
  readonly port: number;
  close(): Promise<void>;
}

let browser: Chromium;
let store: Store;
beforeEach(async () => {
  browser = await Chromium.start();
  const example = new URL('../../examples/server/store.mjs', import.meta.url).href;
  const { start } = (await import(/* @vite-ignore */ example)) as { start: (origin: string) => Promise<Store> };
  store = await start(new URL(browser.url()).origin);
});
afterEach(async () => {
  await browser.stop();
  await store.close();
});

/** Saves in both places with this fence, and says what each answered. */
const save = (page: Page, fence: number, text: string) =>
  page.evaluate(
    `(async () => {
      const project = await import('/demo/project.js');
      const { status } = await fetch('http://127.0.0.1:${store.port}/novel', { method: 'PUT', body: ${JSON.stringify(text)}, headers: { 'X-Fence': ${fence} } });
      return { status, inDatabase: await project.save(${fence}, ${JSON.stringify(text)}) };
    })()`,
  );
const load = (page: Page) =>
  page.evaluate(
    `(async () => {
      const project = await import('/demo/project.js');
      const { text } = await (await fetch('http://127.0.0.1:${store.port}/novel')).json();
      return [text, await project.load()];
    })()`,
  );

it('what a displaced tab writes is refused by the server and by the database', async () => {
  const [sleeper, next] = [await browser.tab(), await browser.tab()];
  const pid = await rendererOf(sleeper);
  await sleeper.evaluate(() => window.tab.acquire());
  const { lease: slept } = await sleeper.evaluate(() => window.tab.renew(4000));
  expect(await save(sleeper, slept?.fence as number, 'first')).toEqual({ status: 204, inDatabase: true });
  let fence = 0;
  try {
    await standStill(pid, () => next.evaluate(() => window.tab.acquire({ maxWaitMs: 0 })));
    fence = (await next.evaluate(() => window.tab.acquire({ maxWaitMs: 60_000 }))).lease?.fence as number;
    expect(await save(next, fence, 'second')).toEqual({ status: 204, inDatabase: true });
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  expect(await save(sleeper, slept?.fence as number, 'too late')).toEqual({ status: 409, inDatabase: false });
  expect(await load(next)).toEqual(['second', 'second']);
  expect(await save(next, fence, 'third')).toEqual({ status: 204, inDatabase: true });
  expect(await next.evaluate(`fetch('http://127.0.0.1:${store.port}/novel', { method: 'PUT', body: 'x' }).then(({ status }) => status)`)).toBe(428);
});
