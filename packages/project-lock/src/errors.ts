// The one error that callers see, and how everything that goes wrong below becomes it. A code always has the same
// `retryable`: it says whether asking again may help, not whether this package has asked again already.

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
  override readonly cause?: unknown;

  constructor(message: string, params: { code: ProjectLockErrorCode; retryable: boolean; cause?: unknown }) {
    super(message);
    this.name = 'ProjectLockError';
    this.code = params.code;
    this.retryable = params.retryable;
    this.cause = params.cause;
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

/** What a reply of the keeper that is no success means to the caller. */
export function failureOf(reply: Exclude<Reply, { type: 'done' }>): ProjectLockError {
  if (reply.type === 'failed') {
    return failure(`fallback-${reply.stage}-failed`, `the lock record could not be used: ${reply.why}`, reply.why);
  }
  switch (reply.code) {
    case 'HELD':
    case 'BUSY':
      return failure('web-lock-unavailable', 'another tab holds the project: wait for it, or try again later', reply.code);
    case 'ALREADY_HELD':
      return failure('lease-mismatch', 'this tab holds the project already: go on with the lease it has', reply.code);
    case 'NOT_HOLDER':
      return failure('lease-mismatch', 'the lease belongs to another tab: only that tab can use it', reply.code);
    case 'TTL_OUT_OF_RANGE':
    case 'DEADLINE_TOO_FAR':
      return failure('lease-expired', 'a lease lasts from 1 ms to an hour: ask for a length in between', reply.code);
    case 'DUPLICATE_ID':
      return failure('fallback-write-failed', 'the id of the lease is taken: try again', reply.code);
    case 'COUNTER_BEHIND':
    case 'FENCES_EXHAUSTED':
      return failure('fallback-read-failed', 'the counter of fences is damaged', reply.code);
    default:
      return failure('lease-expired', 'the lease is over: stop writing and acquire it anew', reply.code);
  }
}
