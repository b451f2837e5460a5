// What a history means, and where the boxes of a graph go.

import { expect, test } from 'vitest';
import { deadline } from '../../src/parts.js';
import { layers } from '../../src/layers.js';
import { href, parse } from '../../src/route.js';
import { lossesByHour, spans } from '../../src/spans.js';
import { fits } from '../../src/store.js';
import { clock, span } from '../../src/time.js';
import type { ClaimEvent, Gate, Lease, Shown } from '../../src/types.js';

let moments = 0;

function event(type: string, lease: string, agent: string, more: Partial<ClaimEvent['payload']> = {}, by = agent): ClaimEvent {
  moments += 1;
  const timestamp = new Date(Date.UTC(2026, 0, 1) + moments * 60_000).toISOString();
  const payload = { lease_id: lease, issue_id: 'I', agent_id: agent, worktree_id: 'wt:1', fence: moments, ...more };
  return { event_type: `claim.${type}`, timestamp, actor: { agent_id: by, worktree_id: null }, payload, handle: '7k2f', title: 'T' };
}

test('grants, renewals, takeovers, transfers and evictions become spans', () => {
  const events = [
    event('acquired', 'a', 'agent:a', { expires_at: '2026-01-01T00:10:00.000Z' }),
    event('renewed', 'a', 'agent:a', { expires_at: '2026-01-01T00:20:00.000Z' }),
    event('evicted', 'a', 'agent:a', { cause: 'expired' }, 'system:jit'),
    event('acquired', 'b', 'agent:b'),
    event('transferred', 'c', 'agent:c', { from_lease_id: 'b', reason: 'holiday' }, 'agent:b'),
    event('evicted', 'c', 'agent:c', { cause: 'forced', reason: 'stuck' }, 'person:eve'),
    event('acquired', 'd', 'agent:c', { expires_at: '2026-01-01T00:09:00.000Z' }),
  ];
  const all = spans(events, Date.UTC(2026, 0, 1, 1));
  expect(all.map(({ lease, end, came, renewals, by }) => [lease, end, came, renewals, by])).toEqual([
    ['a', 'expired', 'acquired', 1, 'agent:b'],
    ['b', 'transferred', 'takeover', 0, null],
    ['c', 'forced', 'transfer', 0, 'person:eve'],
    ['d', 'ran out', 'acquired', 0, null],
  ]);
  expect(all[3]?.to).toBe(Date.UTC(2026, 0, 1, 0, 9));
  expect(lossesByHour(all, Date.UTC(2026, 0, 1), Date.UTC(2026, 0, 1, 2))).toEqual([2, 0]);
});

test('everything stands to the right of what it depends on, also where there is a circle', () => {
  const edges = [
    { from: 'c', to: 'b' },
    { from: 'b', to: 'a' },
    { from: 'c', to: 'a' },
    { from: 'x', to: 'y' },
    { from: 'y', to: 'x' },
    { from: 'z', to: 'z' },
  ];
  const placed = new Map(layers(['a', 'b', 'c', 'x', 'y', 'z'], edges).map((one) => [one.id, one]));
  expect(['a', 'b', 'c', 'z'].map((id) => placed.get(id)?.layer)).toEqual([0, 1, 2, 0]);
  expect(placed.get('x')?.layer).not.toBe(placed.get('y')?.layer);
  const places = [...placed.values()].map(({ layer, row }) => `${layer} ${row}`);
  expect(new Set(places).size).toBe(places.length);
});

test('a chain of twenty thousand does not end the stack', () => {
  const ids = Array.from({ length: 20_000 }, (_, number) => String(number));
  const edges = ids.slice(1).map((id) => ({ from: id, to: String(Number(id) - 1) }));
  expect(layers(ids, edges).at(-1)?.layer).toBe(19_999);
});

test('addresses keep what is looked for, and bad ones lead nowhere bad', () => {
  const route = parse(href('board', '', { q: 'a&b=c#d', label: '' }));
  expect([route.view, route.query.get('q'), route.query.has('label')]).toEqual(['board', 'a&b=c#d', false]);
  expect(parse('').view).toBe('now');
  expect(parse('#/issue/%').id).toBe('%');
});

test('parts of an issue that were looked at in different moments do not fit', () => {
  const taken = [event('acquired', 'l1', 'agent:a', { expires_at: '2999-01-01T00:00:00.000Z' })];
  const shown = (lease: string | null, gates: string[]) => ({ issue: { gates }, lease: lease && { lease_id: lease } }) as unknown as Shown;
  const gate = [{ key: 'tests', status: 'open' }] as Gate[];
  expect(fits(shown('l1', ['tests']), gate, taken)).toBe(true);
  expect(fits(shown(null, ['tests']), gate, taken)).toBe(false);
  expect(fits(shown('l1', ['tests']), gate, [...taken, event('released', 'l1', 'agent:a')])).toBe(false);
  expect(fits(shown('l1', []), gate, taken)).toBe(false);
  expect(fits(shown(null, []), [], [])).toBe(true);
  // Somebody asks to end the claim, which is as it was.
  const asked = { ...event('acquired', 'l2', 'agent:b'), event_type: 'eviction.requested' };
  expect(fits(shown('l1', ['tests']), gate, [...taken, asked])).toBe(true);
});

test('a deadline is the one that is written, unless the wall clock was set', () => {
  const at = Date.UTC(2026, 0, 1);
  const lease = { expires_at: new Date(at + 600_000).toISOString(), remaining_secs: 599 } as Lease;
  expect(deadline(lease, at)).toBe(at + 600_000);
  expect(deadline(lease, at + 3_600_000)).toBe(at + 3_600_000 + 599_000);
  expect(deadline({ ...lease, expires_at: null }, at)).toBe(null);
});

test('spans are read at a glance', () => {
  expect([0, 59_999, 60_000, 3_600_000, 90_000_000].map(clock)).toEqual(['0:00', '0:59', '1:00', '1:00:00', '1 d 1 h']);
  expect([5_000, 120_000, 7_200_000, 200_000_000].map(span)).toEqual(['5 s', '2 min', '2 h', '2 d']);
});
