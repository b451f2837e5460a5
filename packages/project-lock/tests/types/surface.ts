// The public surface, held against the one that was promised: the same names with the same types, and beside them only
// the additions that are listed here. Compiled by a test; nothing of it runs.

import * as surface from '../../src/index.js';
import type {
  LockRetryPolicy,
  ProjectLockAcquireOptions,
  ProjectLockEvent,
  ProjectLockEventListener,
  ProjectLockLease,
  ProjectLockReleaseOptions,
  ProjectLockRenewOptions,
  ProjectLockSource,
  ProjectLockSubscription,
} from '../../src/index.js';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Flat<T> = { [K in keyof T]: T[K] };
const holds = <T extends true>(): T | undefined => undefined;

/** All that was added. Optional, so that whatever was written against the promise compiles. */
interface Additions {
  lease: { readonly fence?: number; readonly signal?: AbortSignal };
  event: { readonly reason?: 'completed' | 'aborted' | 'expired' };
  /** Where the record is when there is no OPFS. */
  source: 'idb-lock';
  /** Locks of projects with names, and helpers. */
  value: 'createProjectLock' | 'isHolder' | 'whoHolds' | 'onChange' | 'awaitLeadership' | 'offerHandOver' | 'requestHandOver';
}

namespace Promised {
  export type Source = 'web-lock' | 'opfs-lock';
  export interface Lease {
    readonly leaseId: string;
    readonly expiresAt: number;
    readonly source: Source | Additions['source'];
  }
  export interface AcquireOptions {
    readonly signal?: AbortSignal;
    readonly maxWaitMs?: number;
    readonly retryPolicy?: RetryPolicy;
  }
  export interface RetryPolicy {
    readonly initialDelayMs: number;
    readonly maxDelayMs: number;
    readonly multiplier: number;
    readonly maxAttempts: number;
  }
  export type Code =
    | 'web-lock-unavailable'
    | 'web-lock-aborted'
    | 'fallback-open-failed'
    | 'fallback-read-failed'
    | 'fallback-write-failed'
    | 'lease-mismatch'
    | 'lease-expired';
  export interface Event {
    readonly type:
      | 'acquired'
      | 'acquire-failed'
      | 'renewed'
      | 'expired'
      | 'released'
      | 'release-failed'
      | 'backoff'
      | 'switch-to-fallback';
    readonly lease?: ProjectLockLease;
    readonly error?: surface.ProjectLockError;
    readonly attempt?: number;
    readonly delayMs?: number;
  }
}

holds<Same<ProjectLockSource, Promised.Source | Additions['source']>>();
holds<Same<Flat<ProjectLockLease>, Flat<Promised.Lease & Additions['lease']>>>();
holds<Same<Flat<LockRetryPolicy>, Flat<Promised.RetryPolicy>>>();
holds<Same<Flat<ProjectLockAcquireOptions>, { readonly signal?: AbortSignal; readonly maxWaitMs?: number; readonly retryPolicy?: LockRetryPolicy }>>();
holds<Same<Flat<ProjectLockRenewOptions>, { readonly lease: ProjectLockLease; readonly extendByMs?: number }>>();
holds<Same<Flat<ProjectLockReleaseOptions>, { readonly lease: ProjectLockLease; readonly reason?: 'completed' | 'aborted' | 'expired' }>>();
holds<Same<Flat<ProjectLockEvent>, Flat<Promised.Event & Additions['event']>>>();
holds<Same<ProjectLockEventListener, (event: ProjectLockEvent) => void>>();
holds<Same<Flat<ProjectLockSubscription>, { unsubscribe: () => void }>>();

holds<Same<surface.ProjectLockError['code'], Promised.Code>>();
holds<Same<surface.ProjectLockError['retryable'], boolean>>();
holds<surface.ProjectLockError extends Error & { readonly cause?: unknown } ? true : false>();
holds<
  Same<
    ConstructorParameters<typeof surface.ProjectLockError>,
    [message: string, params: { code: surface.ProjectLockError['code']; retryable: boolean; cause?: unknown }]
  >
>();

holds<
  Same<
    typeof surface.acquireProjectLock,
    (options?: ProjectLockAcquireOptions) => Promise<{ lease: ProjectLockLease; didFallback: boolean }>
  >
>();
holds<Same<typeof surface.renewProjectLock, (options: ProjectLockRenewOptions) => Promise<ProjectLockLease>>>();
holds<Same<typeof surface.releaseProjectLock, (options: ProjectLockReleaseOptions) => Promise<void>>>();
holds<
  Same<
    typeof surface.withProjectLock,
    <T>(options: ProjectLockAcquireOptions | undefined, work: (lease: ProjectLockLease) => Promise<T>) => Promise<T>
  >
>();
holds<Same<typeof surface.subscribeLockEvents, (listener: ProjectLockEventListener) => ProjectLockSubscription>>();

holds<Same<typeof surface.createProjectLock, (setup?: surface.ProjectLockSetup) => surface.NamedProjectLock>>();

/** No other value is exported. */
holds<
  Same<
    keyof typeof surface,
    | 'acquireProjectLock'
    | 'renewProjectLock'
    | 'releaseProjectLock'
    | 'withProjectLock'
    | 'subscribeLockEvents'
    | 'ProjectLockError'
    | Additions['value']
  >
>();

/** What was written against the promise compiles: such a lease is accepted. */
const promised: Omit<Promised.Lease, 'source'> & { source: Promised.Source } = { leaseId: '', expiresAt: 0, source: 'web-lock' };
export const accepted: ProjectLockLease = promised;

// The comparison can fail: without this line, and the error it expects, a broken `Same` would pass everything.
// @ts-expect-error `fence` is not of this type
holds<Same<ProjectLockLease['fence'], string>>();
// @ts-expect-error a member is missing
holds<Same<Flat<ProjectLockLease>, Flat<Promised.Lease>>>();
