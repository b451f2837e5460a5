// How long a browser takes to show something of the page whose address is given, and to show its issues. For the benchmarks.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launch } from 'puppeteer-core';

const home = mkdtempSync(join(tmpdir(), 'holdfast-paint-'));
const browser = await launch({
  executablePath: process.env['HOLDFAST_CHROMIUM'] ?? '/usr/bin/chromium',
  headless: true,
  userDataDir: join(home, 'profile'),
  args: ['--no-sandbox', '--disable-gpu'],
});
try {
  const looks = [];
  for (let look = 0; look < 5; look += 1) {
    // Somebody who was never here before: nothing is kept of the look before.
    const context = await browser.createBrowserContext();
    const page = await context.newPage();
    await page.goto(process.argv[2]);
    const shown = await page.waitForFunction(() => document.querySelector('.tiles') && performance.now(), { polling: 'mutation' });
    const paint = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN);
    looks.push({ paint, shown: await shown.jsonValue() });
    await context.close();
  }
  const middle = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
  console.log(`${middle(looks.map((look) => look.paint)).toFixed(0)} ${middle(looks.map((look) => look.shown)).toFixed(0)}`);
} finally {
  await browser.close();
  rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}
