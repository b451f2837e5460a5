// The page's end of the worker, with workers that answer, die or say nothing.

import { expect, it } from 'vitest';
import { WorkerLink, type Host } from '../../src/link.js';
import type { Request } from '../../src/wire.js';
import { FakeClock, settle } from '../doubles/fake-clock.js';

const ASK = { type: 'release', leaseId: 'id', mine: [] } as const;
const DONE = { type: 'done', expiresAt: 0, fence: 1, over: false } as const;

class FakeHost implements Host {
  onmessage: Host['onmessage'] = null;
  onerror: Host['onerror'] = null;
  terminated = false;
  readonly heard: Request[] = [];

  constructor(public answers: boolean) {}

  postMessage(request: Request): void {
    this.heard.push(request);
    if (this.answers) queueMicrotask(() => this.#say({ id: request.id, reply: DONE, medium: request.medium }));
  }

  terminate(): void {
    this.terminated = true;
  }

  #say(data: unknown): void {
    this.onmessage?.call(this as unknown as Worker, { data } as MessageEvent);
  }
}

interface Given {
  /** Whether each worker that is started answers; null: it cannot be started. */
  readonly workers?: readonly (boolean | null)[];
  /** Whether the page can do the work itself. */
  readonly here?: boolean;
}

function link({ workers = [], here = true }: Given = {}) {
  const [clock, hosts, inPage, died] = [new FakeClock(), [] as FakeHost[], [] as FakeHost[], [] as number[]];
  const start = () => {
    const answers = workers[hosts.length];
    if (answers === null) throw new DOMException('blocked', 'SecurityError');
    hosts.push(new FakeHost(answers ?? true));
    return hosts.at(-1) as FakeHost;
  };
  const startHere = async () => {
    if (!here) throw new Error('not found');
    inPage.push(new FakeHost(true));
    return inPage.at(-1) as FakeHost;
  };
  const made = new WorkerLink(start, startHere, () => 'opfs', clock).to('');
  made.listen(() => undefined, () => died.push(clock.monotonic()));
  return { clock, hosts, inPage, died, link: made };
}

const fail = (host: FakeHost | undefined, message?: string) =>
  host?.onerror?.call(host as unknown as Worker, Object.assign(new Event('error'), { message }) as ErrorEvent);

it('a worker that answers is kept, and no timer stays', async () => {
  const { link: it, hosts, clock } = link();
  expect(await it.ask(ASK, 100)).toEqual({ id: 1, reply: DONE, medium: 'opfs' });
  await it.ask(ASK, 100);
  expect(hosts.length).toBe(1);
  expect(clock.timers).toBe(0);
});

it('a worker that says nothing any more is terminated, everybody who waits is told, and the next one is asked', async () => {
  const { link: it, hosts, clock, died } = link({ workers: [true] });
  await it.ask(ASK, 100);
  Object.assign(hosts[0] as FakeHost, { answers: false });
  const answers = [it.ask(ASK, 100), it.ask(ASK, 60_000)];
  await clock.advance(3099);
  expect(hosts[0]?.terminated).toBe(false);
  await clock.advance(1);
  for (const answer of await Promise.all(answers)) expect(answer.reply).toMatchObject({ type: 'failed', stage: 'read' });
  expect([hosts[0]?.terminated, died.length, clock.timers]).toEqual([true, 1, 0]);
  expect((await it.ask(ASK, 100)).reply).toEqual(DONE);
  expect(hosts.length).toBe(2);
});

it('a worker that fails after it worked is terminated, says why, and another one is started', async () => {
  const { link: it, hosts, died } = link({ workers: [true] });
  await it.ask(ASK, 100);
  Object.assign(hosts[0] as FakeHost, { answers: false });
  const answer = it.ask(ASK, 100);
  fail(hosts[0], 'out of memory');
  expect((await answer).reply).toMatchObject({ type: 'failed', stage: 'open', why: expect.stringContaining('out of memory') });
  expect([hosts[0]?.terminated, died.length]).toEqual([true, 1]);
  expect((await it.ask(ASK, 100)).reply).toEqual(DONE);
  expect(hosts.length).toBe(2);
});

it.each([
  ['throws', null],
  ['fails to load', false],
])('where starting a worker %s, the page does what was asked, and no worker is tried again', async (_name, worker) => {
  const { link: it, hosts, inPage, died, clock } = link({ workers: [worker] });
  const answers = [it.ask(ASK, 100), it.ask(ASK, 100)];
  if (hosts[0]) fail(hosts[0]);
  for (const answer of await Promise.all(answers)) expect(answer.reply).toEqual(DONE);
  expect((await it.ask(ASK, 100)).reply).toEqual(DONE);
  expect(inPage.map(({ heard }) => heard.length).reduce((a, b) => a + b)).toBe(3);
  expect([hosts.length, died.length, clock.timers]).toEqual([worker === null ? 0 : 1, 0, 0]);
});

it('also where a worker never says anything: what was asked fails, and the next is asked of the page', async () => {
  const { link: it, hosts, inPage, clock } = link({ workers: [false] });
  const answer = it.ask(ASK, 100);
  await clock.advance(3100);
  expect((await answer).reply).toMatchObject({ type: 'failed', stage: 'read' });
  expect((await it.ask(ASK, 100)).reply).toEqual(DONE);
  expect([hosts.length, inPage.length]).toEqual([1, 1]);
});

it('if that cannot be loaded either, it says what the worker failed with', async () => {
  const { link: it, clock } = link({ workers: [null, null], here: false });
  expect((await it.ask(ASK, 100)).reply).toMatchObject({ type: 'failed', stage: 'open', why: expect.stringContaining('blocked') });
  await settle();
  expect(clock.timers).toBe(0);
});
