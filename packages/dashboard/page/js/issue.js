// *Issue*: what it is about, who holds and held it, its gates with what they said, notes, and where its work is.
import { addNote, button, claim, isOurs, judge, leaseButtons, move, open } from './actions.js';
import { h } from './dom.js';
import { badge, bar, empty, issueLink, reasonWords, standingWords, when } from './parts.js';
import { END_WORDS, spans } from './spans.js';
import { clock, moment, now, span } from './time.js';
import { STATES, STATE_WORDS } from './types.js';
export function issue(detail, board) {
    const { shown } = detail;
    const one = shown.issue;
    const about = `${one.handle} ${one.title}`;
    const ours = shown.lease !== null && isOurs(shown.lease);
    const standing = standingWords(shown.standing);
    return h('article', { class: 'whole', key: one.id }, h('p', { class: 'dim' }, h('code', {}, one.handle), ` · ${one.type} · changed `, when(one.updated_at)), h('h1', {}, one.title), h('div', { class: 'marks', key: 'marks' }, badge(STATE_WORDS[one.state], `s-${one.state}`), one.priority !== 'normal' && badge(one.priority, one.priority === 'low' ? '' : 'warn'), standing && badge(standing, standing === 'landed' ? 'good' : 'warn'), one.labels.map((label) => badge(label, 'label')), one.assignee && badge(`for ${one.assignee}`)), shown.blocked_by.length > 0 && h('ul', { class: 'plain blocked', key: 'blocked' }, shown.blocked_by.map((reason) => h('li', {}, reasonWords(reason)))), holder(detail, about), h('div', { class: 'buttons', key: 'buttons' }, button('Add a note', () => open(addNote(one.id, about)), { class: '' }), ours && mover(one.id, about, one.state)), h('div', { class: 'halves', key: 'halves' }, h('div', { key: 'said' }, [
        section('description', 'Description', one.description ? h('div', { class: 'text' }, one.description) : empty('There is no description.')),
        detail.gates.length > 0 && section('gates', 'Gates', detail.gates.map((gate) => gateRow(gate, one.id, ours))),
        section('notes', `Notes`, shown.notes.length === 0 ? empty('There are no notes.') : h('ol', { class: 'notes' }, shown.notes.map((note) => h('li', { key: note.id }, h('p', { class: 'dim' }, note.agent_id ?? 'somebody', ' · ', when(note.at)), h('div', { class: 'text' }, note.text))))),
    ]), h('div', { key: 'done' }, [section('leases', 'Who held it', timeline(spans(detail.events, now()))), work(shown, board)])));
}
function section(id, title, ...children) {
    return h('section', { 'aria-labelledby': id, key: id }, h('h2', { id }, title), ...children);
}
function holder({ shown, at }, about) {
    const { lease, issue: one } = shown;
    if (lease === null) {
        const over = one.state === 'done' || one.state === 'rejected' || one.state === 'archived';
        return h('div', { class: 'holder', key: 'holder' }, h('p', { class: 'dim' }, 'Nobody holds it.'), !over && h('div', { class: 'buttons' }, button('Claim', () => open(claim(one.id, about)))));
    }
    return h('div', { class: 'holder', key: 'holder' }, h('p', {}, 'Held by ', h('strong', {}, lease.agent_id), ' for ', h('time', { datetime: lease.acquired_at, title: moment(lease.acquired_at) }, span(now() - Date.parse(lease.acquired_at))), `, fence ${lease.fence}`, lease.stale && [' ', badge('stale', 'bad')], lease.worktree_gone && [' ', badge('worktree gone', 'bad')]), bar(lease, at), lease.reason && h('p', { class: 'dim' }, '“', lease.reason, '”'), h('div', { class: 'buttons' }, leaseButtons(lease)));
}
/** For whoever cannot drag: the same from the keyboard. */
function mover(id, about, at) {
    const change = (event) => {
        const select = event.target;
        const to = select.value;
        select.value = '';
        if (to)
            open(move(id, about, to));
    };
    const others = STATES.filter((state) => state !== at);
    return h('select', { 'aria-label': 'Move to another state', on: { change } }, h('option', { value: '' }, 'Move to…'), others.map((state) => h('option', { value: state }, STATE_WORDS[state])));
}
function gateRow(gate, id, ours) {
    const kind = { open: '', passed: 'good', failed: 'bad' }[gate.status];
    const facts = [];
    if (gate.agent_id)
        facts.push(gate.agent_id, ' · ');
    if (gate.at)
        facts.push(when(gate.at));
    if (gate.timed_out)
        facts.push(' · took too long');
    else if (gate.exit_code !== undefined)
        facts.push(` · exit code ${gate.exit_code}`);
    return h('div', { class: 'gate', key: gate.key }, h('p', {}, badge(gate.status, kind), ' ', h('strong', {}, gate.key), ' ', h('span', { class: 'dim' }, facts)), gate.note && h('div', { class: 'text' }, gate.note), gate.output !== undefined && h('details', { key: `out ${gate.key}` }, h('summary', {}, 'What it said'), h('pre', { tabindex: 0 }, gate.output)), ours && h('div', { class: 'buttons' }, button('Pass', () => open(judge(id, gate.key, 'passed')), { 'aria-label': `Pass the gate ${gate.key}` }), button('Fail', () => open(judge(id, gate.key, 'failed')), { 'aria-label': `Fail the gate ${gate.key}` })), !ours && gate.status !== 'passed' && h('p', { class: 'dim' }, 'Judging it needs the claim on the issue.'));
}
/** The leases of an issue, the last one first, each with its fence and how it ended. */
function timeline(all) {
    if (all.length === 0)
        return empty('Nobody has held it yet.');
    const first = all[0]?.from ?? 0;
    const last = Math.max(now(), first + 1);
    const share = (at) => `${(((at - first) / (last - first)) * 100).toFixed(2)}%`;
    return h('ol', { class: 'timeline', reversed: true }, [...all].reverse().map((one) => {
        const to = one.to ?? now();
        const how = one.end === null ? 'holds it' : END_WORDS[one.end] + (one.by ? ` by ${one.by}` : '') + (one.reason ? `: ${one.reason}` : '');
        const lost = one.end === 'expired' || one.end === 'dead' || one.end === 'forced';
        return h('li', { key: one.lease }, h('div', { class: 'row' }, h('span', { class: 'fence', title: 'fence' }, `#${one.fence}`), h('strong', {}, one.agent), h('span', { class: 'dim' }, `${moment(one.from)}, ${clock(to - one.from)}`, one.renewals > 0 && `, renewed ${one.renewals}×`), one.came === 'takeover' && badge('took over', 'warn'), one.came === 'transfer' && badge('handed over'), badge(how, one.end === null ? 'held' : lost ? 'bad' : '')), h('div', { class: 'track', 'aria-hidden': 'true' }, h('div', { class: lost ? 'lost' : one.end === null ? 'holds' : '', vars: { left: share(one.from), width: `max(3px, ${(((to - one.from) / (last - first)) * 100).toFixed(2)}%)` } })));
    }));
}
function work(shown, board) {
    const one = shown.issue;
    const links = Object.entries(one.links ?? {});
    const documents = Object.entries(one.documents ?? {});
    const cards = new Map((board?.issues ?? []).map((card) => [card.id, card]));
    const deps = one.dependencies;
    if (links.length + documents.length + shown.branches.length + deps.length === 0)
        return null;
    const row = (what, value) => [h('dt', {}, what), h('dd', {}, value)];
    return section('work', 'Work', h('dl', {}, links.map(([name, value]) => row(LINKS[name] ?? name, link(value))), shown.branches.map((branch) => row('Finished on', h('code', {}, branch.branch))), documents.map(([path, { label }]) => row(label ?? 'Document', h('code', {}, path))), deps.map((id) => row('Depends on', cards.has(id) ? issueLink(id, cards.get(id)?.handle ?? id, cards.get(id)?.title ?? null) : h('code', {}, id)))));
}
const LINKS = { commit: 'Landed as', onto: 'On top of', pull_request: 'Pull request' };
/** Only what leads to a page is a link: an address may be anything that somebody wrote. */
function link(value) {
    return /^https?:\/\//.test(value) ? h('a', { href: value, rel: 'noreferrer noopener', target: '_blank' }, value) : h('code', {}, value);
}
