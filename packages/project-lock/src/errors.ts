// The one error that callers see, and how everything that goes wrong below becomes it. A code always has the same
// `retryable`: it says whether asking again may help, not whether this package has asked again already.

import type { RefusalCode } from './decide.js';
import type { Reply } from './reply.js';

export type ProjectLockErrorCode =
  | 'web-lock-unavailable'
  | 'web-lock-aborted'
  | 'fallback-open-failed'
  | 'fallback-read-failed'
  | 'fallback-write-failed'
  | 'lease-mismatch'
  | 'lease-expired';

export class ProjectLockError extends Error {
  readonly code: ProjectLockErrorCode;
  readonly retryable: boolean;
  declare readonly cause?: unknown;

  constructor(message: string, params: { code: ProjectLockErrorCode; retryable: boolean; cause?: unknown }) {
    super(message, { cause: params.cause });
    this.name = 'ProjectLockError';
    this.code = params.code;
    this.retryable = params.retryable;
  }

  /** Also what another copy of this package in the page has thrown. */
  static override [Symbol.hasInstance](error: unknown): boolean {
    return (error as Error | null)?.name === 'ProjectLockError';
  }
}

const RETRYABLE: readonly ProjectLockErrorCode[] = [
  'web-lock-unavailable',
  'fallback-read-failed',
  'fallback-write-failed',
];

export function failure(code: ProjectLockErrorCode, message: string, cause?: unknown): ProjectLockError {
  return new ProjectLockError(message, { code, retryable: RETRYABLE.includes(code), cause });
}

const HELD = ['web-lock-unavailable', 'another tab holds the project'] as const;
const OVER = ['lease-expired', 'the lease is over: stop writing and acquire it anew'] as const;

/** How each refusal is told that a caller can come to. */
const TOLD: Partial<Record<RefusalCode | 'BUSY', readonly [ProjectLockErrorCode, string]>> = {
  HELD,
  BUSY: HELD,
  ALREADY_HELD: ['lease-mismatch', 'this tab holds or acquires it already'],
  NOT_HOLDER: ['lease-mismatch', 'the lease is of another tab'],
  NOT_FOUND: OVER,
  EXPIRED: OVER,
  FENCED_OUT: OVER,
};

/** What a reply of the keeper means to a caller who did not get what it wanted: if it was done, then too late. */
export function failureOf(reply: Reply): ProjectLockError {
  if (reply.type === 'failed') {
    return failure(`fallback-${reply.stage}-failed`, `cannot use the record: ${reply.why}`, reply.why);
  }
  const code = reply.type === 'done' ? 'EXPIRED' : reply.code;
  const [told, why] = TOLD[code] ?? (['fallback-write-failed', `refused: ${code}`] as const);
  return failure(told, why, code);
}
