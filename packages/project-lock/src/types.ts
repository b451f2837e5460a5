// The public vocabulary: leases, options and events. Types only.

import type { ProjectLockError } from './errors.js';

/** What the lease rests on: the Web Lock, or the record alone in OPFS or in IndexedDB. */
export type ProjectLockSource = 'web-lock' | 'opfs-lock' | 'idb-lock';

export interface ProjectLockLease {
  /** UUID (RFC 4122). */
  readonly leaseId: string;
  /** Milliseconds since the epoch. Beats move it on; the `renewed` event and `renewProjectLock` tell where to. */
  readonly expiresAt: number;
  readonly source: ProjectLockSource;
  /** Larger than that of every earlier lease: show it with every write, and refuse writes with a smaller one. */
  readonly fence?: number;
  /** Aborts when the lease is lost. Not enumerable, so a lease can be cloned and turned into JSON. */
  readonly signal?: AbortSignal;
}

export interface ProjectLockAcquireOptions {
  readonly signal?: AbortSignal;
  /** 5000 if not given. */
  readonly maxWaitMs?: number;
  /** From 200 ms, doubled each time, up to 5000 ms, without end, if not given. */
  readonly retryPolicy?: LockRetryPolicy;
}

export interface LockRetryPolicy {
  readonly initialDelayMs: number;
  readonly maxDelayMs: number;
  readonly multiplier: number;
  readonly maxAttempts: number;
}

export interface ProjectLockRenewOptions {
  readonly lease: ProjectLockLease;
  /** From now on; 15000 if not given. */
  readonly extendByMs?: number;
}

export interface ProjectLockReleaseOptions {
  readonly lease: ProjectLockLease;
  /** Told to listeners with the `released` event; `completed` if not given. */
  readonly reason?: 'completed' | 'aborted' | 'expired';
}

export interface ProjectLockEvent {
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
  readonly error?: ProjectLockError;
  readonly attempt?: number;
  readonly delayMs?: number;
  /** With `released`: what the release was asked with. */
  readonly reason?: 'completed' | 'aborted' | 'expired';
}

export type ProjectLockEventListener = (event: ProjectLockEvent) => void;

export interface ProjectLockSubscription {
  unsubscribe(): void;
}
