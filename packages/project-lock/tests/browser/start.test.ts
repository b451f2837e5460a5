// Chromium starts, every time: `scripts/chromium.mjs` says what kept it from it.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { Chromium } from './support/chromium.js';

const folder = mkdtempSync(join(tmpdir(), 'holdfast-start-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('adds nothing to its environment, which would move it away from threads that read it', async () => {
  const [additions, library] = [join(folder, 'additions'), join(folder, 'additions.so')];
  const source = fileURLToPath(new URL('support/additions.c', import.meta.url));
  execFileSync('cc', ['-shared', '-fPIC', '-Wall', '-Werror', '-o', library, source, '-ldl']);
  const env = { LD_PRELOAD: library, HOLDFAST_ADDITIONS: additions };
  const added = () => readFileSync(additions, 'utf8').trimEnd().split('\n');
  // Another program adds one, to show that additions are seen.
  execFileSync(process.execPath, ['-e', 'process.env.HOLDFAST_ADDED = 1'], { env });
  expect(added()).toEqual([expect.stringMatching(/^\d+ HOLDFAST_ADDED$/)]);

  const browser = await Chromium.start(env);
  try {
    await browser.tab();
    const session = await browser.context.browser()!.newBrowserCDPSession();
    const { processInfo } = await session.send('SystemInfo.getProcessInfo');
    const main = processInfo.find(({ type }) => type === 'browser')!.id;
    expect(added().filter((line) => line.startsWith(`${main} `))).toEqual([]);
  } finally {
    await browser.stop();
  }
});
