// What each project needs: `unit` nothing but Node, `browser` Chromium and the built package, `bundlers` npm's registry too;
// `firefox` and `webkit` those browsers and the built package.

import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    reporters: ['default'],
    projects: [
      // A machine that is busy takes its time: what hangs hangs for longer than that.
      { test: { name: 'unit', include: ['tests/unit/**/*.test.ts'], testTimeout: 120_000, hookTimeout: 600_000 } },
      {
        test: {
          name: 'bundlers',
          include: ['tests/bundlers/**/*.test.ts'],
          testTimeout: 600_000,
          hookTimeout: 600_000,
        },
      },
      ...['firefox', 'webkit'].map((name) => ({
        test: { name, include: [`tests/engines/${name}.test.ts`], testTimeout: 900_000, hookTimeout: 240_000 },
      })),
      {
        test: {
          name: 'browser',
          include: ['tests/browser/**/*.test.ts'],
          testTimeout: 240_000,
          hookTimeout: 120_000,
          maxWorkers: 2,
        },
      },
    ],
  },
});
