// Small pieces that several views show.
import { h } from './dom.js';
import { href } from './route.js';
import { ago, clock, moment, now } from './time.js';
export function issueLink(id, handle, title) {
    return h('a', { href: href('issue', id), class: 'issue', 'data-item': true }, h('code', {}, handle), ' ', h('span', {}, title ?? 'cannot be read'));
}
export function badge(text, kind = '') {
    return h('span', { class: `badge ${kind}` }, text);
}
/** A moment ago, with the moment itself for whoever points at it. */
export function when(iso) {
    return h('time', { datetime: iso, title: moment(iso) }, ago(iso));
}
export function standingWords(standing) {
    const { kind, branch } = typeof standing === 'object' ? standing : { kind: standing, branch: '' };
    switch (kind) {
        case 'not_pushed':
            return 'landed here, not pushed';
        case 'on_branch':
            return `on ${branch}, not landed`;
        case 'not_committed':
            return 'not committed';
        case 'lost':
            return 'finished once, and lost';
        case 'landed':
            return 'landed';
        default:
            return '';
    }
}
export function reasonWords(reason) {
    switch (reason.kind) {
        case 'dependency':
            return ['waits for ', issueLink(reason.id ?? '', reason.handle ?? '', reason.title ?? null), reason.claimed_by && ` (${reason.claimed_by} works on it)`];
        case 'gate':
            return `waits for the gate ${reason.key}`;
        case 'unreadable':
            return `waits for ${reason.id}, which cannot be read`;
        default:
            return 'what it depends on cannot be read';
    }
}
/** When a lease ends by the server's clock, as it was looked at then. Within one boot only the time that is left counts, whatever the wall clock did. */
export function deadline(lease, at) {
    if (lease.expires_at === null)
        return null;
    const written = Date.parse(lease.expires_at);
    if (lease.remaining_secs === undefined || Number.isNaN(at))
        return written;
    const counted = at + lease.remaining_secs * 1000;
    return Math.abs(counted - written) < 5000 ? written : counted;
}
/** How much of a lease is left that was looked at then, as a bar that runs down. */
export function bar(lease, at) {
    const ends = deadline(lease, at);
    if (ends === null) {
        return h('div', { class: lease.stale ? 'left stale' : 'left' }, h('div', { class: 'bar open' }), h('span', { class: 'num' }, lease.stale ? 'stale, no deadline' : 'no deadline'));
    }
    const left = ends - now();
    const share = Math.max(0, Math.min(1, left / (lease.ttl_secs * 1000)));
    const mood = left <= 0 ? 'over' : share < 0.2 ? 'low' : '';
    return h('div', { class: `left ${mood}` }, h('div', { class: 'bar' }, h('div', { vars: { width: `${(share * 100).toFixed(1)}%` } })), h('span', { class: 'num' }, left <= 0 ? 'run out' : `${clock(left)} left of ${clock(lease.ttl_secs * 1000)}`));
}
export function empty(text) {
    return h('p', { class: 'empty' }, text);
}
