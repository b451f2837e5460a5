// Starts a real Chromium with a profile of its own, for the tests and the benchmark.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

/**
 * What Chromium adds to its environment when it has threads already, with the values that it gives them. Adding moves the
 * environment, and a thread that looks for `TMPDIR` meanwhile reads freed memory: the browser dies as it starts. What is
 * there before is changed in its place.
 */
const ADDED_BY_CHROMIUM = { DBUS_SESSION_BUS_ADDRESS: 'disabled:', FC_FONTATIONS: '1' };

/**
 * @param {{ args?: string[], ignoreDefaultArgs?: string[], env?: Record<string, string> }} [options]
 */
export async function launch({ args = [], ignoreDefaultArgs = [], env = {} } = {}) {
  const profile = await mkdtemp(join(tmpdir(), 'holdfast-chromium-'));
  const forget = () => rm(profile, { recursive: true, force: true, maxRetries: 5 });
  try {
    const context = await chromium.launchPersistentContext(profile, {
      executablePath: process.env['HOLDFAST_CHROMIUM'] ?? '/usr/bin/chromium',
      args: ['--no-sandbox', '--disable-gpu', ...args],
      ignoreDefaultArgs,
      env: { ...ADDED_BY_CHROMIUM, ...process.env, ...env },
    });
    const close = async () => {
      await context.close();
      await forget();
    };
    return { context, profile, close };
  } catch (error) {
    await forget();
    throw error;
  }
}
