// The leases that a history tells of: who held what from when to when, and how each one ended.
export const END_WORDS = {
    released: 'released',
    transferred: 'transferred',
    expired: 'expired, taken over',
    dead: 'holder dead, taken over',
    forced: 'evicted',
    'ran out': 'ran out',
};
/** Who is on record where a claim ended because its time was up or its holder was dead. */
const TIME = 'system:jit';
function begin(event, came) {
    const { payload } = event;
    const subject = payload.issue_id ?? payload.resource ?? '';
    return {
        lease: payload.lease_id,
        subject,
        isIssue: payload.issue_id !== undefined,
        handle: event.handle ?? payload.pattern ?? subject,
        title: event.title ?? (payload.resource ? '' : 'an issue that is not here'),
        agent: payload.agent_id,
        worktree: payload.worktree_id,
        fence: payload.fence,
        from: Date.parse(event.timestamp),
        to: null,
        end: null,
        by: null,
        reason: null,
        renewals: 0,
        expires: payload.expires_at === undefined ? null : Date.parse(payload.expires_at),
        came,
    };
}
/** The leases of a history, in the order in which they began, as they are at a moment. */
export function spans(events, now) {
    const all = [];
    const open = new Map();
    /** How the last lease on something ended. */
    const last = new Map();
    const close = (lease, event, end) => {
        const span = open.get(lease);
        if (!span)
            return;
        open.delete(lease);
        span.to = Date.parse(event.timestamp);
        span.end = end;
        span.reason = event.payload.reason ?? null;
        span.by = [span.agent, TIME].includes(event.actor.agent_id) ? null : event.actor.agent_id;
        last.set(span.subject, span);
    };
    const start = (span) => {
        all.push(span);
        open.set(span.lease, span);
    };
    for (const event of events) {
        const { payload } = event;
        switch (event.event_type) {
            case 'claim.acquired': {
                const before = last.get(payload.issue_id ?? payload.resource ?? '');
                const lost = before?.end === 'expired' || before?.end === 'dead';
                const takesOver = lost && before.agent !== payload.agent_id;
                // Time ended it; whoever reads that it was taken over wants to know by whom.
                if (takesOver)
                    before.by ??= payload.agent_id;
                start(begin(event, takesOver ? 'takeover' : 'acquired'));
                break;
            }
            case 'claim.transferred':
                if (payload.from_lease_id !== undefined)
                    close(payload.from_lease_id, event, 'transferred');
                start(begin(event, 'transfer'));
                break;
            case 'claim.renewed': {
                const span = open.get(payload.lease_id);
                if (!span)
                    break;
                span.renewals += 1;
                span.expires = payload.expires_at === undefined ? null : Date.parse(payload.expires_at);
                break;
            }
            case 'claim.released':
                close(payload.lease_id, event, 'released');
                break;
            case 'claim.evicted':
                close(payload.lease_id, event, payload.cause ?? 'forced');
                break;
        }
    }
    for (const span of open.values()) {
        if (span.expires === null || span.expires > now)
            continue;
        span.to = span.expires;
        span.end = 'ran out';
    }
    return all;
}
/** How many leases were ended against the will of their holders in each hour. */
export function lossesByHour(all, from, to) {
    const hours = new Array(Math.max(1, Math.ceil((to - from) / 3_600_000))).fill(0);
    for (const { to: at, end } of all) {
        if (at === null || at < from || at > to)
            continue;
        if (end !== 'expired' && end !== 'dead' && end !== 'forced')
            continue;
        const hour = Math.min(hours.length - 1, Math.floor((at - from) / 3_600_000));
        hours[hour] = (hours[hour] ?? 0) + 1;
    }
    return hours;
}
