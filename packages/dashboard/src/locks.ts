// *All locks*: claims of this repository, worktree locks of jvs, named locks of ic, turns of kc vaults. Only to be read.

import { h, type Child } from './dom.js';
import { badge, empty, issueLink, when } from './parts.js';
import { refine, type Route } from './route.js';
import { clock, now } from './time.js';
import type { AuditEntry, Lock, Locks, LockSource } from './types.js';

const DOORS: Readonly<Record<string, string>> = { jit: 'claims, reservations and branches', jvs: 'worktrees', ic: 'named locks', kc: 'turns' };

export function locks_(locks: Locks, route: Route): Child {
  const only = route.query.get('door') ?? '';
  const wanted = (one: { readonly door: string | null }) => only === '' || one.door === only;
  const [held, audit] = [locks.locks.filter(wanted), locks.audit.filter(wanted)];
  const change = (event: Event) => refine({ door: (event.target as HTMLSelectElement).value });
  const silent = locks.sources.filter((source) => wanted(source) && source.no_audit);
  return [
    h('h1', {}, 'All locks'),
    h('form', { class: 'filters' }, h('label', {}, h('span', { class: 'dim' }, 'Show'), h('select', { name: 'door', on: { change } }, h('option', { value: '', selected: only === '' }, 'everything'), Object.entries(DOORS).map(([door, word]) => h('option', { value: door, selected: door === only }, `${word} (${door})`))))),
    locks.sources.filter((source) => source.problem).map(missing),
    h('section', { 'aria-labelledby': 'held' }, h('h2', { id: 'held' }, 'Held', h('span', { class: 'count' }, held.length)), held.length === 0 ? empty('Nobody holds anything.') : table(held)),
    h(
      'section',
      { 'aria-labelledby': 'audit' },
      h('h2', { id: 'audit' }, 'What happened', h('span', { class: 'count' }, audit.length)),
      silent.map((source) => h('p', { class: 'dim', key: `silent ${source.place}` }, `Nothing of ${source.place}: ${source.no_audit}.`)),
      audit.length === 0 ? empty('Nothing has happened.') : h('table', { class: 'locks' }, head(['When', 'What', 'By', 'To', 'Where']), h('tbody', {}, audit.map(entry))),
    ),
    h('p', { class: 'dim' }, 'Looked for in: ', locks.sources.map((source) => source.place).join(', '), '. Others are named with ', h('code', {}, 'jit serve --also DIR'), '.'),
  ];
}

/** A place that could not be asked is said, not left out. */
function missing(source: LockSource): Child {
  return h('p', { class: 'banner warn', key: `missing ${source.place}` }, `${source.place} cannot be shown: ${source.problem}`);
}

function head(words: readonly string[]): Child {
  return h('thead', {}, h('tr', {}, words.map((word) => h('th', { scope: 'col' }, word))));
}

/** A cell that says on a narrow screen what it is. */
function cell(label: string, ...content: Child[]): Child {
  return h('td', { 'data-label': label }, content);
}

function table(all: readonly Lock[]): Child {
  return h('table', { class: 'locks' }, head(['Kind', 'What', 'Holder', 'Since', 'Ends in', 'Fence', 'Where']), h('tbody', {}, all.map(row)));
}

function row(one: Lock): Child {
  const left = one.until === null ? null : Date.parse(one.until) - now();
  const bad = one.state !== 'held';
  return h(
    'tr',
    { key: `${one.door} ${one.place} ${one.name} ${one.fence}` },
    cell('Kind', badge(one.kind.replace('_', ' '), one.door === 'jit' ? 'held' : ''), bad && [' ', badge(one.state, 'warn')]),
    cell('What', one.issue_id ? issueLink(one.issue_id, one.name, one.title ?? null) : h('code', {}, one.name)),
    cell('Holder', one.holder ?? 'unknown'),
    cell('Since', one.since === null ? 'unknown' : when(one.since)),
    cell('Ends in', left === null ? 'no deadline' : left <= 0 ? 'over' : h('span', { class: 'num' }, clock(left))),
    cell('Fence', h('span', { class: 'num' }, one.fence ?? '–')),
    cell('Where', h('span', { class: 'dim', title: one.place }, one.place)),
  );
}

function entry(one: AuditEntry, number: number): Child {
  return h('tr', { key: `${one.at} ${one.event} ${number}` }, cell('When', when(one.at)), cell('What', h('code', {}, one.event)), cell('By', one.by ?? 'unknown'), cell('To', one.name ?? '–'), cell('Where', h('span', { class: 'dim', title: one.place }, one.place)));
}
