// The bytes in storage: the lease record and, beside it, the counter of fences with a copy of the lease. Everything read
// is hostile until it has been checked here: another program, an older version or a crash may have left anything.

/** What is stored, as text; null where there is nothing, undefined where nobody looked. */
export interface Texts {
  readonly record: string | null | undefined;
  readonly beside: string | null;
}

/** What is to be stored. The counter stays for ever: without it a fence might be given out twice. */
export interface Written {
  readonly record: string | null;
  readonly beside: string;
  /** What says that the lease is over, for a record that is removed a moment later. */
  readonly ended?: string | undefined;
}

/** Who may write until when: the truth, exactly these two members. */
export interface LeaseRecord {
  readonly leaseId: string;
  readonly expiresAt: number;
}

/** The last grant: a copy for the day that the record is damaged, with what the record has no room for. */
export interface Grant extends LeaseRecord {
  readonly fence: number;
  /** Whether the holder also holds the Web Lock, so that whoever gets that lock knows it to be gone. */
  readonly web: boolean;
  /** For how long it was granted or renewed last: so long the others watch before they take it for abandoned. */
  readonly ttl: number;
}

export interface Beside {
  readonly next: number;
  /** Null if nobody holds the project, undefined if there is no telling. */
  readonly grant: Grant | null | undefined;
}

type Members = Readonly<Partial<Record<'leaseId' | 'expiresAt' | 'fence' | 'web' | 'ttl' | 'next' | 'grant', unknown>>>;

/** No lease is longer. A record that claims to be is believed only if the copy says the same: then the clock was set back. */
export const LONGEST_LEASE_MS = 3_600_000;
const CENTURY_MS = 36_525 * 86_400_000;
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Over for every clock, and as long as any moment up to the year 2286: a file that keeps its length is written sooner. */
export const ENDED = 1e12;

export function writeRecord({ leaseId, expiresAt }: LeaseRecord): string {
  return JSON.stringify({ leaseId, expiresAt });
}

export function writeBeside({ next, grant }: Beside): string {
  return JSON.stringify({ next, grant });
}

/** The record, or null if it is not one that a tab could have written by `now`, or before the clock was set back. */
export function readRecord(text: string, now: number, copy?: LeaseRecord | null): LeaseRecord | null {
  const members = parse(text);
  const found = Object.keys(members).length === 2 ? lease(members) : null;
  return found && (found.expiresAt <= now + LONGEST_LEASE_MS || found.leaseId === copy?.leaseId) ? found : null;
}

/** The counter, or null if it is not to be believed. */
export function readBeside(text: string | null, now: number): Beside | null {
  const { next, grant } = parse(text ?? '');
  if (!isPosition(next, now)) return null;
  return { next, grant: grant === null ? null : copy(membersOf(grant), now) };
}

function copy(members: Members, now: number): Grant | undefined {
  const [found, { fence, web, ttl }] = [lease(members), members];
  if (!found || !isPosition(fence, now)) return undefined;
  // Version 0.1 did not keep the length.
  return { ...found, fence, web: web === true, ttl: isCount(ttl) && ttl < LONGEST_LEASE_MS ? ttl : LONGEST_LEASE_MS };
}

function lease({ leaseId, expiresAt }: Members): LeaseRecord | null {
  const known = typeof leaseId === 'string' && UUID.test(leaseId) && isCount(expiresAt);
  return known ? { leaseId, expiresAt } : null;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** A position that is further ahead than a century of grants was never given out. */
function isPosition(value: unknown, now: number): value is number {
  return isCount(value) && value <= now + CENTURY_MS;
}

function parse(text: string): Members {
  try {
    return membersOf(JSON.parse(text));
  } catch {
    return {};
  }
}

/** What can be asked for by name; a text or a number has nothing that we would ask for. */
function membersOf(value: unknown): Members {
  return (value ?? {}) as Members;
}
