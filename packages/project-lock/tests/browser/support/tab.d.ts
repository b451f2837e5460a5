// What `page.js` puts into a tab, for the functions that tests run there.

import type * as lock from '../../../src/index.js';
import type { ProjectLockAcquireOptions, ProjectLockLease } from '../../../src/index.js';

export interface Told {
  readonly lease?: ProjectLockLease;
  readonly didFallback?: boolean;
  readonly error?: { readonly code: string; readonly retryable: boolean; readonly message: string; readonly cause: string };
}

export interface Tab {
  readonly events: { type: string; code?: string; attempt?: number; delayMs?: number; leaseId?: string }[];
  readonly lock: typeof lock;
  acquire(options?: ProjectLockAcquireOptions): Promise<Told>;
  renew(extendByMs?: number): Promise<Told>;
  release(): Promise<Told>;
  isLost(): boolean | null;
}

declare global {
  interface Window {
    readonly tab: Tab;
    readonly count: (put?: number) => Promise<number>;
  }
}
