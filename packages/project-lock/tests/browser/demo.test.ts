// The demo does what it shows: two tabs take turns.

import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { Chromium } from './support/chromium.js';

let browser: Chromium;
beforeEach(async () => void (browser = await Chromium.start()));
afterEach(() => browser.stop());

async function open(): Promise<Page> {
  const page = await browser.context.newPage();
  await page.goto(browser.url('/demo/index.html'));
  await page.waitForFunction(() => document.getElementById('state')?.className === 'reads');
  return page;
}

const becomes = (page: Page, kind: string) =>
  page.waitForFunction((kind) => document.getElementById('state')?.className === kind, kind);

it('two tabs take turns', async () => {
  const [first, second] = [await open(), await open()];
  await first.click('#write');
  await becomes(first, 'holds');
  await second.click('#write');
  await becomes(second, 'waits');
  await first.fill('#text', 'from the first');
  await first.click('#done');
  await becomes(second, 'holds');
  await becomes(first, 'reads');
  expect(await second.inputValue('#text')).toBe('from the first');
  await second.fill('#text', 'and the second');
  await first.waitForFunction(() => (document.getElementById('text') as HTMLTextAreaElement).value === 'and the second');
  expect(await first.isEditable('#text')).toBe(false);
  await second.close();
  await first.click('#write');
  await becomes(first, 'holds');
});
