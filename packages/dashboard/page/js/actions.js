// What can be done, to whom it is offered, and what is asked first. Whether it is allowed is the server's to say.
import { post, Refused } from './api.js';
import { h, patch } from './dom.js';
import { known, named, refresh } from './store.js';
import { moment } from './time.js';
import { STATE_WORDS } from './types.js';
const REASON = { name: 'reason', label: 'Reason', kind: 'line' };
/** Whether the server holds a lease: then it can give it back, and nobody else can here. */
export function isOurs(lease) {
    const { board } = known;
    return board !== null && lease.agent_id === board.agent_id && lease.worktree_id === board.worktree_id;
}
function name(lease) {
    return [lease.handle ?? lease.resource ?? lease.lease_id, lease.title].filter(Boolean).join(' ');
}
/** The buttons of a lease. */
export function leaseButtons(lease) {
    if (isOurs(lease))
        return [button('Renew', () => open(renew(lease))), button('Release', () => open(release(lease))), button('Transfer', () => open(transfer(lease)))];
    return button('Evict', () => open(evict(lease)));
}
export function button(text, act, props = {}) {
    return h('button', { type: 'button', class: 'small', on: { click: act }, ...props }, text);
}
function renew(lease) {
    const fields = [{ name: 'ttl', label: 'For how many seconds', kind: 'number', value: String(lease.ttl_secs || ''), optional: true }];
    return {
        title: 'Renew the claim',
        about: name(lease),
        button: 'Renew',
        fields: lease.ttl_secs === 0 ? [] : fields,
        act: async ({ ttl = '' }) => {
            const body = ttl === '' ? {} : { ttl_secs: Number(ttl) };
            const done = await post(`/api/claims/${lease.lease_id}/renew`, body);
            const until = done.lease.expires_at;
            return { said: until === null ? 'The claim was renewed.' : `Renewed until ${moment(until)}.`, warnings: done.warnings };
        },
    };
}
function release(lease) {
    return {
        title: 'Release the claim',
        about: `${name(lease)}: others can claim it at once.`,
        button: 'Release',
        fields: [],
        act: async () => ({ said: 'Released.', warnings: (await post(`/api/claims/${lease.lease_id}/release`, {})).warnings }),
    };
}
function transfer(lease) {
    const worktrees = (known.board?.worktrees ?? []).filter((tree) => tree.worktree_id !== null && !tree.gone);
    const choices = worktrees.map((tree) => [tree.worktree_id ?? '', `${basename(tree.path)} (${tree.branch ?? 'no branch'})`]);
    return {
        title: 'Transfer the claim',
        about: name(lease),
        button: 'Transfer',
        fields: [
            { name: 'agent', label: 'To which agent', kind: 'line', value: worktrees.find((tree) => tree.agent && !tree.current)?.agent ?? '' },
            { name: 'worktree', label: 'In which worktree', kind: 'choice', choices },
            REASON,
        ],
        act: async ({ agent, worktree, reason }) => {
            const body = { to_agent: agent, to_worktree: worktree, reason };
            const done = await post(`/api/claims/${lease.lease_id}/transfer`, body);
            return { said: `${done.lease.agent_id} holds it, with fence ${done.lease.fence}.`, warnings: done.warnings };
        },
    };
}
function evict(lease) {
    return {
        title: 'Evict the holder',
        about: `${lease.agent_id} loses its claim on ${name(lease)}. What it writes from then on is refused; what it has not committed stays in its worktree.`,
        button: 'Evict',
        danger: true,
        fields: [REASON],
        act: async ({ reason }) => {
            const done = await post(`/api/claims/${lease.lease_id}/force-evict`, { reason });
            return { said: `${lease.agent_id} was evicted.`, warnings: done.warnings };
        },
    };
}
/** As whom is the server's: a person who sees this page stands for it. */
export function approve(one) {
    return {
        title: 'Approve the eviction',
        about: `${one.handle} ${one.title}: ${one.text}. Your approval, as ${known.board?.agent_id ?? 'the server'}, is in the log of claims.`,
        button: 'Approve',
        danger: true,
        fields: [{ ...REASON, optional: true }],
        act: async ({ reason = '' }) => {
            const done = await post(`/api/approvals/${one.lease_id}`, reason ? { reason } : {});
            const { lease, missing } = done.request;
            return { said: done.evicted ? `Approved; ${lease.agent_id} was evicted.` : `Approved; ${missing} more to go.`, warnings: done.warnings };
        },
    };
}
export function addNote(id, about) {
    return {
        title: 'Add a note',
        about: `${about}: whoever works on it is shown it.`,
        button: 'Add',
        fields: [{ name: 'text', label: 'Note', kind: 'text' }],
        act: async ({ text }) => ({ said: 'The note was added.', warnings: (await post(`/api/issues/${id}/notes`, { text })).warnings }),
    };
}
export function claim(id, about) {
    return {
        title: 'Claim the issue',
        about: `${about}, for ${known.board?.agent_id ?? 'the server'}.`,
        button: 'Claim',
        fields: [
            { name: 'ttl', label: 'For how many seconds', kind: 'number', optional: true },
            { ...REASON, optional: true },
        ],
        act: async ({ ttl = '', reason = '' }) => {
            const body = { issue: id, ...(ttl && { ttl_secs: Number(ttl) }), ...(reason && { reason }) };
            const done = await post('/api/claims', body);
            return { said: `Claimed, with fence ${done.lease.fence}.`, warnings: done.warnings };
        },
    };
}
export function judge(id, key, status) {
    const verb = status === 'passed' ? 'Pass' : 'Fail';
    return {
        title: `${verb} the gate ${key}`,
        about: 'Your verdict is in the history of the issue.',
        button: verb,
        danger: status === 'failed',
        fields: [{ name: 'note', label: 'Why', kind: 'line', optional: true }],
        act: async ({ note = '' }) => {
            const done = await post(`/api/issues/${id}/gates/${key}`, { status, ...(note && { note }) });
            return { said: `The gate ${key} is ${status}.`, warnings: done.warnings };
        },
    };
}
export function move(id, about, state) {
    return {
        title: `Move to ${STATE_WORDS[state]}`,
        about,
        button: 'Move',
        fields: [],
        act: async () => {
            const done = await post(`/api/issues/${id}`, { state });
            return { said: `It is ${STATE_WORDS[state].toLowerCase()}.`, warnings: done.warnings };
        },
    };
}
export function basename(path) {
    return path.split('/').filter(Boolean).at(-1) ?? path;
}
// ---- asking
let busy = false;
/** What is asked about; none if nothing is. An answer that comes when something else is asked closes nothing. */
let asked = null;
/** Asks for what an action needs, does it, and says what became of it. A refusal leaves what was typed. */
export function open(action) {
    const dialog = document.querySelector('dialog#action');
    if (!(dialog instanceof HTMLDialogElement))
        return;
    [busy, asked] = [false, action];
    dialog.addEventListener('close', () => asked === action && (asked = null), { once: true });
    // What was typed into the one before is not for this one.
    patch(dialog, []);
    paint(dialog, action, null);
    dialog.showModal();
    dialog.querySelector('input, textarea, select, button.main')?.focus();
}
function paint(dialog, action, error) {
    const submit = async (event) => {
        event.preventDefault();
        if (busy)
            return;
        busy = true;
        const form = new FormData(event.target);
        const values = Object.fromEntries([...form].map(([key, value]) => [key, String(value).trim()]));
        paint(dialog, action, null);
        try {
            const done = await action.act(values);
            if (asked === action)
                dialog.close();
            say([done.said, ...(done.warnings ?? [])].join(' '));
        }
        catch (error) {
            if (asked !== action)
                say(words(error));
            else {
                busy = false;
                paint(dialog, action, error);
            }
        }
        if (asked === action)
            busy = false;
        refresh();
    };
    patch(dialog, [
        h('form', { on: { submit: (event) => void submit(event) } }, h('h2', { id: 'action-title' }, action.title), h('p', { class: 'about' }, action.about), action.fields.map(field), error !== null && refusal(error), h('div', { class: 'buttons' }, h('button', { type: 'button', on: { click: () => dialog.close() } }, 'Cancel'), h('button', { type: 'submit', class: action.danger ? 'main danger' : 'main', disabled: busy }, action.button))),
    ]);
}
function refusal(error) {
    const hint = error instanceof Refused ? error.hint : undefined;
    return h('div', { class: 'refusal', role: 'alert' }, h('strong', {}, words(error)), hint && h('p', {}, named(hint)));
}
function words(error) {
    return named(error instanceof Error ? error.message : String(error));
}
function field(one) {
    const props = { name: one.name, required: !one.optional, autocomplete: 'off' };
    const input = {
        line: () => h('input', { type: 'text', value: one.value ?? '', ...props }),
        number: () => h('input', { type: 'number', min: 1, value: one.value ?? '', ...props }),
        text: () => h('textarea', { rows: 5, ...props }),
        choice: () => h('select', props, (one.choices ?? []).map(([value, text]) => h('option', { value }, text))),
    }[one.kind]();
    return h('label', {}, h('span', {}, one.label, one.optional ? h('small', {}, ' (optional)') : ''), input);
}
let shown = 0;
/** Says something that goes away by itself; screen readers say it too. */
export function say(text) {
    const place = document.querySelector('#said');
    if (!place)
        return;
    patch(place, [h('p', {}, text)]);
    window.clearTimeout(shown);
    shown = window.setTimeout(() => patch(place, []), 8000);
}
