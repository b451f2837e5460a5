// A board that is made of the one before, what is kept of its picture, and the names that people know.

import { expect, test } from 'vitest';
import { patched } from '../../src/delta.js';
import { Kept } from '../../src/dom.js';
import { known, named } from '../../src/store.js';
import type { Board, Card } from '../../src/types.js';

const card = (id: string, title: string) => ({ id, title, handle: id.toLowerCase(), state: 'ready', labels: [] }) as unknown as Card;
const board = (at: string, ...issues: Card[]) => ({ at, issues, count: issues.length, agents: [] }) as unknown as Board;

const BEFORE = board('one', card('A', 'a'), card('B', 'b'), card('D', 'd'));

test('what came, changed and went is put in its place', () => {
  const next = patched(BEFORE, 'x', { from: 'x', to: 'y', gone: ['A'], board: { ...board('two', card('B', 'B'), card('C', 'c')), count: 3 } });
  expect(next?.issues.map(({ id, title }) => id + title)).toEqual(['BB', 'Cc', 'Dd']);
  expect([next?.at, next?.count]).toEqual(['two', 3]);
  // What has not changed is what it was: nothing is drawn again for it.
  expect(next?.issues[2]).toBe(BEFORE.issues[2]);
  expect(BEFORE.issues.map(({ title }) => title)).toEqual(['a', 'b', 'd']);
});

test('what is about another board is not taken', () => {
  const about = board('two', card('B', 'B'));
  expect(patched(BEFORE, 'x', { from: 'w', to: 'y', gone: [], board: about })).toBeNull();
  expect(patched(BEFORE, null, { from: 'w', to: 'y', gone: [], board: about })).toBeNull();
  expect(patched(BEFORE, 'x', { to: 'y' })).toBeNull();
});

test('ids become handles, and those of leases are left out', () => {
  const [issue, lease] = ['01K8ZZZZZZ0000000000000001', '01K8ZZZZZZ0000000000000002'];
  known.board = board('one', { ...card(issue, 'a'), handle: '7k2f' });
  expect(named(`${issue} is held by agent:a (lease ${lease}) in .jit/issues/${issue}/issue.json`)).toBe(`7k2f is held by agent:a (lease) in .jit/issues/${issue}/issue.json`);
  expect(named(`nobody knows ${lease}`)).toBe(`nobody knows ${lease}`);
});

test('what is described is kept until it is made of something else, or left out', () => {
  const kept = new Kept();
  let made = 0;
  const show = (...all: (readonly [string, string])[]) => {
    const shown = all.map(([name, of]) => kept.get(name, of, () => `${name} ${(made += 1)}`));
    kept.done();
    return shown;
  };
  expect(show(['a', 'x'], ['b', 'x'])).toEqual(['a 1', 'b 2']);
  expect(show(['b', 'x'], ['a', 'y'])).toEqual(['b 2', 'a 3']);
  expect(show(['a', 'y'])).toEqual(['a 3']);
  expect(show(['b', 'x'])).toEqual(['b 4']);
});
