// One read-decide-write as a function of texts: what is stored before, what shall be stored after, and the answer. It
// never waits, so that a store can run it inside an IndexedDB transaction or between two calls on a file.

import { apply, decide, type Command, type Lease, type RefusalCode } from './decide.js';
import { ENDED, LONGEST_LEASE_MS, readBeside, readRecord, writeBeside, writeRecord, type Grant, type Texts, type Written } from './record.js';

/** What a tab asks for. `mine` are the leases that are its own; when it acquires, it holds none of them any more. */
export type Ask = {
  readonly leaseId: string;
  readonly mine: readonly string[];
  /** How long the lease that it holds is good for, by its own monotonic clock. */
  readonly leftMs?: number | undefined;
} & (
  /** `webSince`: when the tab got the Web Lock, or null if it has not. */
  | { readonly type: 'acquire'; readonly ttl: number; readonly webSince: number | null }
  | { readonly type: 'renew'; readonly ttl: number }
  | { readonly type: 'release' }
  | { readonly type: 'check'; readonly fence: number }
);

export type Outcome =
  | { readonly type: 'done'; readonly expiresAt: number; readonly fence: number; readonly over: boolean }
  | { readonly type: 'refused'; readonly code: RefusalCode }
  | { readonly type: 'failed'; readonly stage: 'read'; readonly why: string };

/** What the monotonic clock of the one who asks says. The wall clock alone cannot be believed: it may have been set. */
export interface Passed {
  /** For how long the record has been seen as it is. */
  readonly unchangedMs: number;
  /** For how long the asker's own lease is good; undefined if it knows of none. */
  readonly leftMs?: number | undefined;
}

/** Null where nothing changes. */
export interface Step {
  readonly write: Written | null;
  readonly outcome: Outcome;
}

const POLICY = { minTtl: 1, maxTtl: LONGEST_LEASE_MS };
const THIS_TAB = 'this tab';
const ANOTHER_TAB = 'another tab';
/** So much later than it should be a beat may come. */
const LATE_MS = 1500;
/** Five beats fit into a lease, so that four may fail. */
const BEATS_IN_A_LEASE = 5;
const SLOWEST_BEAT_MS = 3000;

/** How often a lease of this length is prolonged. */
export const beatMs = (ttl: number): number => Math.min(SLOWEST_BEAT_MS, ttl / BEATS_IN_A_LEASE);

/** Whether the step has to see the record. Who gives back what the copy says is its own need not: nobody had it since. Nor
 * who acquires, if there was none when it came: had a tab made one before this step, the copy would say so. */
export function needsRecord(beside: string | null, absent: boolean, { type, leaseId }: Ask, now: number): boolean {
  const copy = readBeside(beside, now);
  if (type === 'release') return copy?.grant?.leaseId !== leaseId;
  return type !== 'acquire' || !absent || copy?.grant !== null;
}

export function step(texts: Texts, ask: Ask, now: number, passed: Passed = { unchangedMs: 0 }): Step {
  const beside = readBeside(texts.beside, now);
  const record = texts.record ? readRecord(texts.record, now, beside?.grant) : null;
  const damaged = typeof texts.record === 'string' && record === null;
  // The clock keeps fences rising even if the counter is lost or was set back.
  const next = Math.max(beside?.next ?? 0, now);
  const known = damaged || texts.record === undefined ? beside?.grant : record;
  const copy = known && beside?.grant?.leaseId === known.leaseId ? beside.grant : null;
  const { fence: given = 0, web: had = false, ttl = LONGEST_LEASE_MS } = copy ?? {};
  const grant = known ? { ...known, fence: given, web: had, ttl } : null;
  if (damaged && ask.type === 'acquire') return mend(next, grant);

  const held = grant && lease(grant, ask, deadline(grant, ask, now, passed));
  const decision = decide(held, POLICY, command(ask, grant), now, next);
  if ('code' in decision) {
    // Whoever finds its own lease to be over removes it: nobody else has to watch it first.
    const ends = decision.code === 'EXPIRED' && ask.type === 'renew';
    return { write: ends ? write(next + 1, null, ask.leaseId) : null, outcome: { type: 'refused', code: decision.code } };
  }
  const { events, lease: { deadline: expiresAt, fence } } = decision;
  const after = events.reduce(apply, held);
  const web = ask.type === 'acquire' ? ask.webSince !== null : had;
  const kept = after && { leaseId: after.id, expiresAt: after.deadline, fence: after.fence, web, ttl: after.ttl };
  return {
    write: events.length > 0 ? write(next + events.length, kept, ask.leaseId) : null,
    outcome: { type: 'done', expiresAt, fence, over: now >= expiresAt },
  };
}

/** Puts the copy back, or nothing if there is none; whoever asked is told and asks again. */
function mend(next: number, grant: Grant | null): Step {
  const why = 'it was damaged and has been made anew';
  return { write: write(next, grant), outcome: { type: 'failed', stage: 'read', why } };
}

function write(next: number, grant: Grant | null, leaseId?: string): Written {
  const ended = leaseId && writeRecord({ leaseId, expiresAt: ENDED });
  return { record: grant && writeRecord(grant), beside: writeBeside({ next, grant }), ended };
}

/** When the lease is over, if the clock says `now`. A holder goes by its own monotonic clock alone. The others go by how long
 * they have seen no beat: for the whole lease, or for one beat if the wall clock says as well that it is over. */
function deadline({ leaseId, expiresAt, ttl }: Grant, { type, mine }: Ask, now: number, passed: Passed): number {
  const { unchangedMs, leftMs } = passed;
  if (type !== 'acquire') return mine.includes(leaseId) && leftMs !== undefined ? now + Math.ceil(leftMs) : expiresAt;
  if (expiresAt <= ENDED) return expiresAt;
  const silence = now < expiresAt ? ttl : Math.min(ttl, beatMs(ttl) + LATE_MS);
  return now + Math.ceil(silence - unchangedMs);
}

function lease({ leaseId, fence, ttl }: Grant, { mine }: Ask, deadline: number): Lease {
  return { id: leaseId, holder: mine.includes(leaseId) ? THIS_TAB : ANOTHER_TAB, fence, ttl, deadline };
}

function command(ask: Ask, grant: Grant | null): Command {
  const { leaseId: lease } = ask;
  if (ask.type !== 'acquire') return { ...ask, lease, holder: THIS_TAB };
  // Only one tab has the Web Lock: if that is the one that asks, a holder that got it before is gone. One that got it later
  // says that this tab has lost it: its page is gone, and its worker does not know yet. A fence is not smaller than the time
  // it was given out at.
  const dead = grant?.web && grant.fence <= (ask.webSince ?? -1) ? [grant.leaseId] : [];
  return { ...ask, id: lease, holder: THIS_TAB, dead: [...ask.mine, ...dead] };
}
