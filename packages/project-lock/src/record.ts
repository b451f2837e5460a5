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
}

export interface Beside {
  readonly next: number;
  readonly grant: Grant | null;
}

/** No lease is longer, so a record that claims to be was not written by a tab with this clock. */
export const LONGEST_LEASE_MS = 3_600_000;
const CENTURY_MS = 36_525 * 86_400_000;
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

export function writeRecord({ leaseId, expiresAt }: LeaseRecord): string {
  return JSON.stringify({ leaseId, expiresAt });
}

export function writeBeside({ next, grant }: Beside): string {
  return JSON.stringify({ next, grant });
}

/** The record, or null if it is not one that a tab could have written by `now`. */
export function readRecord(text: string, now: number): LeaseRecord | null {
  const value = object(text);
  return value && Object.keys(value).length === 2 ? lease(value, now) : null;
}

/** The counter, or null if it is not to be believed. */
export function readBeside(text: string | null, now: number): Beside | null {
  const value = text === null ? null : object(text);
  if (!value || !isPosition(value['next'], now)) return null;
  return { next: value['next'], grant: grant(value['grant'], now) };
}

function grant(value: unknown, now: number): Grant | null {
  if (!isObject(value) || !isPosition(value['fence'], now)) return null;
  const found = lease(value, now);
  return found && { ...found, fence: value['fence'], web: value['web'] === true };
}

function lease({ leaseId, expiresAt }: Record<string, unknown>, now: number): LeaseRecord | null {
  const known = typeof leaseId === 'string' && UUID.test(leaseId) && isCount(expiresAt);
  return known && expiresAt <= now + LONGEST_LEASE_MS ? { leaseId, expiresAt } : null;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** A position that is further ahead than a century of grants was never given out. */
function isPosition(value: unknown, now: number): value is number {
  return isCount(value) && value <= now + CENTURY_MS;
}

function object(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
