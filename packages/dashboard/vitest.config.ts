// `unit` needs nothing but Node; `browser` needs Debian's Chromium and Firefox and the built programs, whose `jit` is named by JIT.

import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    reporters: ['default'],
    projects: [
      { test: { name: 'unit', include: ['tests/unit/**/*.test.ts'], testTimeout: 120_000 } },
      // A machine that is busy takes its time: what hangs hangs for longer than that.
      { test: { name: 'browser', include: ['tests/browser/**/*.test.ts'], testTimeout: 240_000, hookTimeout: 240_000, maxWorkers: 2 } },
    ],
  },
});
