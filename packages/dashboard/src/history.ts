// *History*: who held what when, and where a claim was lost. What was refused leaves no trace in the log, so it is not here.

import { h, type Child } from './dom.js';
import { badge, empty, issueLink } from './parts.js';
import { href, refine, type Route } from './route.js';
import { END_WORDS, lossesByHour, spans, type Span } from './spans.js';
import { clock, moment, now, span as length } from './time.js';
import type { ClaimEvent } from './types.js';

const HOUR = 3_600_000;
const RANGES: readonly (readonly [string, string, number])[] = [
  ['1h', 'the last hour', HOUR],
  ['6h', '6 hours', 6 * HOUR],
  ['24h', 'a day', 24 * HOUR],
  ['7d', '7 days', 168 * HOUR],
  ['all', 'everything', Number.POSITIVE_INFINITY],
];
/** As many as can be told apart, the newest. */
const MOST = 1500;
const LISTED = 100;

export function history_(events: readonly ClaimEvent[], route: Route): Child {
  const until = now();
  const chosen = route.query.get('last') ?? '24h';
  const range = RANGES.find(([key]) => key === chosen)?.[2] ?? 24 * HOUR;
  const all = spans(events, until);
  const inside = all.filter((one) => (one.to ?? until) >= until - range);
  const shown = inside.slice(-MOST);
  // What is there fills the picture, however little of the time it is.
  const from = Math.max(until - range, Math.min(until - 60_000, ...shown.slice(0, 1).map((one) => one.from)));
  const change = (event: Event) => refine({ last: (event.target as HTMLSelectElement).value });
  const lost = inside.filter((one) => isLost(one) || one.came !== 'acquired');
  return [
    h('h1', {}, 'History'),
    h('form', { class: 'filters' }, h('label', {}, h('span', { class: 'dim' }, 'Show'), h('select', { name: 'last', on: { change } }, RANGES.map(([key, text]) => h('option', { value: key, selected: key === chosen }, text))))),
    shown.length < inside.length && h('p', { class: 'dim' }, `The newest ${shown.length} of ${inside.length} claims.`),
    shown.length === 0 ? empty('Nobody held anything in this time.') : gantt(shown, from, until),
    hours(all, from, until),
    h('section', { 'aria-labelledby': 'lost' }, h('h2', { id: 'lost' }, 'Taken over, evicted, handed over', h('span', { class: 'count' }, lost.length)), lost.length === 0 ? empty('Nothing of that kind.') : h('ul', { class: 'needs' }, [...lost].reverse().slice(0, LISTED).map(row))),
  ];
}

function isLost(one: Span): boolean {
  return one.end === 'expired' || one.end === 'dead' || one.end === 'forced';
}

/** Leases of one holder that overlap get a line each. */
function lines(all: readonly Span[], until: number): Span[][] {
  const lines: Span[][] = [];
  for (const one of all) {
    const free = lines.find((line) => (line.at(-1)?.to ?? until) <= one.from);
    if (free) free.push(one);
    else lines.push([one]);
  }
  return lines;
}

function gantt(all: readonly Span[], from: number, until: number): Child {
  const holders = new Map<string, Span[]>();
  for (const one of all) {
    const key = `${one.agent} ${one.worktree}`;
    holders.set(key, [...(holders.get(key) ?? []), one]);
  }
  const share = (at: number) => (Math.max(0, at - from) / Math.max(1, until - from)) * 100;
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((part) => from + part * (until - from));
  return h(
    'section',
    { class: 'gantt', 'aria-label': 'Who held what when' },
    h('div', { class: 'line ticks', 'aria-hidden': 'true' }, h('span', { class: 'who' }), h('div', { class: 'track' }, ticks.map((at, number) => h('span', { class: number === 4 ? 'last' : '', vars: { left: `${number * 25}%` } }, number === 4 ? 'now' : `−${length(until - at)}`)))),
    [...holders].map(([key, own]) =>
      lines(own, until).map((line, number) =>
        h(
          'div',
          { class: 'line', key: `${key} ${number}` },
          h('span', { class: 'who', title: own[0]?.agent ?? '' }, number === 0 ? (own[0]?.agent ?? '') : ''),
          h('div', { class: 'track' }, line.map((one) => piece(one, share(one.from), share(one.to ?? until)))),
        ),
      ),
    ),
  );
}

function words(one: Span): string {
  const how = one.end === null ? 'holds it' : END_WORDS[one.end];
  return `${one.handle} ${one.title}, ${one.agent}, fence ${one.fence}, ${moment(one.from)}, ${clock((one.to ?? now()) - one.from)}, ${how}`;
}

function piece(one: Span, left: number, right: number): Child {
  const kind = isLost(one) ? 'lost' : one.end === null ? 'holds' : '';
  const mark = one.end === 'forced' ? '✕' : isLost(one) ? '⚑' : one.end === 'transferred' ? '→' : '';
  const start = one.came === 'takeover' ? '⚑ ' : one.came === 'transfer' ? '→ ' : '';
  return h(
    'a',
    { key: one.lease, class: `piece ${kind}`, title: words(one), 'aria-label': words(one), role: one.isIssue ? null : 'img', href: one.isIssue ? href('issue', one.subject) : null, vars: { left: `${left.toFixed(3)}%`, width: `max(4px, ${(right - left).toFixed(3)}%)` } },
    h('span', {}, start, one.handle),
    mark && h('b', {}, mark),
  );
}

/** How often claims were lost, hour by hour. */
function hours(all: readonly Span[], from: number, until: number): Child {
  const first = Math.max(from, until - 168 * HOUR);
  const counts = lossesByHour(all, first, until);
  const most = Math.max(...counts);
  if (most === 0 || counts.length < 2) return null;
  return h('section', { 'aria-labelledby': 'hours' }, h('h2', { id: 'hours' }, 'Claims lost per hour'), h('div', { class: 'hours', role: 'img', 'aria-label': `at most ${most} in an hour, ${counts.reduce((a, b) => a + b, 0)} in all` }, counts.map((count) => h('i', { title: count, vars: { height: `${(count / most) * 100}%` } }))));
}

function row(one: Span): Child {
  const word = isLost(one) ? (one.end === 'forced' ? 'evicted' : 'taken over') : one.came === 'takeover' ? 'took over' : one.end === 'transferred' ? 'handed over' : 'received';
  const text = [`${one.agent}, fence ${one.fence}`, one.to !== null && moment(one.to), one.by && `by ${one.by}`, one.reason].filter(Boolean).join(' · ');
  return h('li', { key: one.lease }, badge(word, isLost(one) ? 'bad' : 'warn'), h('div', { class: 'grow' }, one.isIssue ? issueLink(one.subject, one.handle, one.title) : h('code', {}, one.handle), h('div', { class: 'dim' }, text)));
}
