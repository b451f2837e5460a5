// The rules are the kernel's: every case of the shared vectors that one project in one browser can come to is run here,
// from the JSON alone.

import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { apply, decide, type Command, type Lease, type LeaseEvent } from '../../src/decide.js';

const FOLDER = new URL('../../../../spec/vectors/', import.meta.url);

interface Moment {
  readonly wall_ms: number;
  readonly boot: { readonly id: string; readonly ms: number } | null;
}

interface VectorLease {
  readonly id: string;
  readonly resource: string;
  readonly fence: number;
  readonly term: { readonly type: string; readonly ttl_ms: number; readonly from: Moment };
}

type Json = any;

interface Vector {
  readonly name: string;
  readonly policy: Json;
  readonly steps: readonly Json[];
}

const topics = readdirSync(FOLDER).filter((file) => file.endsWith('.json'));
const all = topics.flatMap((file) => {
  const { topic, cases } = JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')) as { topic: string; cases: Vector[] };
  return cases.map((vector) => ({ topic, vector }));
});
const ours = all.filter(({ vector }) => isOurs(vector));

describe('the shared vectors', () => {
  it('are all of the browser topic and more', () => {
    const browser = (found: typeof all) => found.filter(({ topic }) => topic === 'browser').length;
    expect(browser(ours)).toBe(9);
    expect(browser(all)).toBe(9);
    expect(ours.length).toBeGreaterThanOrEqual(25);
  });

  it.each(ours)('$topic/$vector.name', ({ vector }) => run(vector));
});

/** One resource with a name, exclusive finite leases, no waits, one clock, and nothing that only other doors can ask for. */
function isOurs({ policy, steps }: Vector): boolean {
  const policies = [policy, ...steps.flatMap((step) => step.policy ?? [])];
  const moments: Moment[] = steps.flatMap((step) => step.now ?? []);
  const first = moments[0];
  return (
    policies.every(({ skew_ms, grace_ms, kinds, limits }) => {
      const limited = Object.values(limits).some((limit) => limit !== null);
      const waits = skew_ms + grace_ms > 0 && steps.some(isAboutWaiting);
      return !waits && Object.keys(kinds).length === 0 && !limited;
    }) &&
    moments.every((now, at) => isSteady(first as Moment, now) && now.wall_ms >= (moments[at - 1]?.wall_ms ?? 0)) &&
    steps.every((step) => step.now && isPlain(step)) &&
    steps.every((step) => typeof (step.command?.resource ?? '') === 'string') &&
    new Set(steps.flatMap((step) => step.command?.resource ?? [])).size === 1
  );
}

/** Where skew and grace are waited for, which tabs of one browser need not do. */
function isAboutWaiting({ refusal, standing }: Json): boolean {
  return refusal?.code === 'HELD' || refusal?.code === 'CLOCK_SKEW' || standing?.type === 'lapsed';
}

/** Whether both clocks tell the same time to have passed. */
function isSteady(first: Moment, now: Moment): boolean {
  const passed = now.wall_ms - first.wall_ms;
  return first.boot?.id === now.boot?.id && (now.boot?.ms ?? 0) - (first.boot?.ms ?? 0) === (now.boot ? passed : 0);
}

function isPlain({ command, answer, look }: Json): boolean {
  if (look) return true;
  if (!['acquire', 'renew', 'release', 'check'].includes(command.type) || answer?.type === 'already_held') return false;
  return command.type !== 'acquire' || (command.mode === 'exclusive' && command.request.type === 'finite');
}

function run({ policy, steps }: Vector): void {
  let held: Lease | null = null;
  for (const step of steps) {
    const now = step.now.wall_ms;
    policy = step.policy ?? policy;
    if (step.look) {
      expect(standing(held, step.look, now)).toEqual(step.standing);
      continue;
    }
    const { min_ms: minTtl, max_ms: maxTtl } = policy.rule.ttl;
    const decision = decide(held, { minTtl, maxTtl }, command(step.command), now, step.next);
    if (step.refusal) {
      const wait = step.refusal.retry_after_ms;
      expect(decision).toEqual({ code: step.refusal.code, ...(wait === undefined ? {} : { retryAfter: wait }) });
      continue;
    }
    if ('code' in decision) throw new Error(`refused with ${decision.code}`);
    const type = decision.events.at(-1)?.type ?? 'valid';
    expect({ type, lease: shown(decision.lease) }).toEqual({ type: step.answer.type, lease: kept(step.answer.lease) });
    expect(decision.events.map(told)).toEqual(step.events.map(expected));
    held = decision.events.reduce(apply, held);
  }
}

function command({ type, id, lease, holder, request, ttl_ms, fence, dead }: Json): Command {
  const who = `${holder.agent} ${holder.place}`;
  switch (type) {
    case 'acquire':
      return { type, id, holder: who, ttl: request.ttl_ms, dead };
    case 'renew':
      return { type, lease, holder: who, ttl: ttl_ms };
    case 'check':
      return { type, lease, holder: who, fence };
    default:
      return { type, lease, holder: who };
  }
}

const shown = ({ id, fence, deadline }: Lease) => ({ id, fence, deadline });
const kept = ({ id, fence, term }: VectorLease) => ({ id, fence, deadline: term.from.wall_ms + term.ttl_ms });

function told(event: LeaseEvent): object {
  return event.type === 'granted' ? { ...event, lease: shown(event.lease) } : event;
}

function expected({ type, lease, ttl_ms, at, cause }: Json): object {
  if (type === 'granted') return { type, lease: kept(lease) };
  if (type === 'renewed') return { type, lease, ttl: ttl_ms, at: at.wall_ms };
  return type === 'evicted' ? { type, lease, cause: cause.type } : { type, lease };
}

function standing(held: Lease | null, id: string, now: number): object | null {
  if (held?.id !== id) return null;
  const left = held.deadline - now;
  return left > 0 ? { type: 'live', left_ms: left } : { type: 'open', ago_ms: now - held.deadline };
}
