// How much a lease costs over a bare Web Lock of the same name, in the same page of a real Chromium. Prints one row and the
// ratio; the medians of alternating runs are compared, so that a busy machine disturbs both alike.

import { launch } from './chromium.mjs';
import { serve } from './serve.mjs';

const [ROUNDS, AIM_MS] = [300, 5];

const site = await serve();
const { context, close } = await launch();
try {
  const page = await context.newPage();
  await page.goto(`http://127.0.0.1:${site.port}/tests/browser/support/page.html`);
  await page.waitForFunction(() => 'tab' in window);
  const { bare, lease, source } = await page.evaluate(measure, ROUNDS);
  const added = lease - bare;
  const verdict = added <= AIM_MS ? 'met' : 'missed';
  console.log('| acquire + release | median | against a bare navigator.locks.request | added | aim |');
  console.log('|---|---|---|---|---|');
  console.log(
    `| ${source}, record in OPFS | ${lease.toFixed(2)} ms | ${bare.toFixed(2)} ms, ${(lease / bare).toFixed(1)} times | ` +
      `${added.toFixed(2)} ms | at most ${AIM_MS} ms added: ${verdict} |`,
  );
} finally {
  await close();
  await site.close();
}

/** Runs in the page. */
async function measure(rounds) {
  const { acquireProjectLock, releaseProjectLock } = window.tab.lock;
  const median = (times) => times.sort((a, b) => a - b)[Math.floor(times.length / 2)];
  const timed = async (work) => {
    const start = performance.now();
    await work();
    return performance.now() - start;
  };
  let source = '';
  const withLease = async () => {
    const { lease } = await acquireProjectLock();
    source = lease.source;
    await releaseProjectLock({ lease });
  };
  const withBareLock = () => navigator.locks.request('holdfast:project', async () => undefined);
  await withLease();
  const [bare, lease] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    bare.push(await timed(withBareLock));
    lease.push(await timed(withLease));
  }
  return { bare: median(bare), lease: median(lease), source };
}
