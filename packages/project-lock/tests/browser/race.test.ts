// The promise itself: of many tabs that try at the same time exactly one gets the project, whatever the browser has.

import { afterEach, beforeEach, expect, it } from 'vitest';
import { Chromium, type Lack } from './support/chromium.js';

const TABS = 6;
const ROUNDS = Number(process.env['HOLDFAST_BROWSER_ROUNDS'] ?? 40);

let browser: Chromium;
beforeEach(async () => void (browser = await Chromium.start()));
afterEach(() => browser.stop());

const grounds: [string, Lack[][]][] = [
  ['Web Locks', [[]]],
  ['OPFS alone', [['locks']]],
  ['IndexedDB alone', [['locks', 'opfs']]],
  ['Web Locks in some tabs, the record in OPFS', [[], ['locks']]],
  ['Web Locks in some tabs, the record in IndexedDB', [['opfs'], ['locks', 'opfs']]],
  ['workers in some tabs, the record in OPFS', [['locks'], ['worker']]],
  ['workers in some tabs, the record in IndexedDB', [['locks', 'opfs'], ['worker', 'opfs']]],
];

it.each(grounds)(`one of ${TABS} tabs, ${ROUNDS} times: %s`, async (_name, lacks) => {
  const conductor = await browser.tab();
  await conductor.addScriptTag({ url: '/tests/browser/support/race.js' });
  for (let tab = 0; tab < TABS; tab += 1) {
    const runner = await browser.tab(lacks[tab % lacks.length]);
    await runner.addScriptTag({ url: '/tests/browser/support/race.js' });
    await runner.evaluate(() => (window as unknown as { runner(): Promise<void> }).runner());
  }
  const report = await conductor.evaluate(
    ([tabs, rounds]) => (window as unknown as { conduct(...n: number[]): Promise<object> }).conduct(tabs, rounds),
    [TABS, ROUNDS] as const,
  );
  expect(report, JSON.stringify(report)).toEqual({ none: 0, several: 0, falling: 0, codes: ['web-lock-unavailable'] });
});
