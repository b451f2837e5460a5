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

/** How `createProjectLock` makes a lock. */
export interface ProjectLockSetup {
  /** Of the project: 1 to 150 bytes, percent-encoded. Without a name it is the project that the functions beside this one are for. */
  readonly name?: string;
  /** Where `guard.js` is, if a bundler does not put it where it is looked for. A `TrustedScriptURL` is good too. For all locks
   * of the page, from the next start of the worker on. */
  readonly workerUrl?: string | URL | object;
  /** Starts the worker, if an address is not enough. For all locks of the page. */
  readonly createWorker?: () => Worker;
}

/** The lock of one project in this tab. */
export interface NamedProjectLock {
  /** Empty for the project without a name. */
  readonly name: string;
  acquire(options?: ProjectLockAcquireOptions): Promise<{ lease: ProjectLockLease; didFallback: boolean }>;
  renew(options: ProjectLockRenewOptions): Promise<ProjectLockLease>;
  release(options: ProjectLockReleaseOptions): Promise<void>;
  with<T>(options: ProjectLockAcquireOptions | undefined, work: (lease: ProjectLockLease) => Promise<T>): Promise<T>;
  subscribe(listener: ProjectLockEventListener): ProjectLockSubscription;
  /** Whether this tab holds the project, as far as it knows: it may have been stopped and displaced without having heard of
   * it. What must not be overwritten checks the fence. */
  isHolder(): boolean;
}

/** The lease that is in force, as `whoHolds` finds it in the record. */
export interface ProjectLockHolder {
  readonly leaseId: string;
  readonly expiresAt: number;
  /** Whether it is this tab's. */
  readonly isMine: boolean;
}
