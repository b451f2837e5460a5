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

  constructor(readonly answers: boolean) {}

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

function link(...answers: boolean[]) {
  const [clock, hosts, died] = [new FakeClock(), [] as FakeHost[], [] as number[]];
  const made = new WorkerLink(() => {
    const host = new FakeHost(answers[hosts.length] ?? true);
    hosts.push(host);
    return host;
  }, () => 'opfs', clock);
  made.listen(() => undefined, () => died.push(clock.monotonic()));
  return { clock, hosts, died, link: made };
}

it('a worker that answers is kept, and no timer stays', async () => {
  const { link: it, hosts, clock } = link();
  expect(await it.ask(ASK, 100)).toEqual({ id: 1, reply: DONE, medium: 'opfs' });
  await it.ask(ASK, 100);
  expect(hosts.length).toBe(1);
  expect(clock.timers).toBe(0);
});

it('a worker that says nothing is terminated, everybody who waits is told, and the next one is asked', async () => {
  const { link: it, hosts, clock, died } = link(false);
  const answers = [it.ask(ASK, 100), it.ask(ASK, 60_000)];
  await clock.advance(3099);
  expect(hosts[0]?.terminated).toBe(false);
  await clock.advance(1);
  for (const answer of await Promise.all(answers)) expect(answer.reply).toMatchObject({ type: 'failed', stage: 'read' });
  expect([hosts[0]?.terminated, died.length, clock.timers]).toEqual([true, 1, 0]);
  expect((await it.ask(ASK, 100)).reply).toEqual(DONE);
  expect(hosts.length).toBe(2);
});

it('a worker that fails is terminated, and says why', async () => {
  const { link: it, hosts } = link(false);
  const answer = it.ask(ASK, 100);
  hosts[0]?.onerror?.call(hosts[0] as unknown as Worker, Object.assign(new Event('error'), { message: 'out of memory' }) as ErrorEvent);
  await settle();
  expect((await answer).reply).toMatchObject({ type: 'failed', stage: 'open', why: expect.stringContaining('out of memory') });
  expect(hosts[0]?.terminated).toBe(true);
});
