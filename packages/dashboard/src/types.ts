// The documents that the server sends, as far as the page reads them. `/openapi.json` has all of them.

export type State = 'backlog' | 'ready' | 'in_progress' | 'gated' | 'done' | 'rejected' | 'archived';

/** In the order of work. */
export const STATES: readonly State[] = ['backlog', 'ready', 'in_progress', 'gated', 'done', 'rejected', 'archived'];

export const STATE_WORDS: Readonly<Record<State, string>> = {
  backlog: 'Backlog',
  ready: 'Ready',
  in_progress: 'In progress',
  gated: 'Gated',
  done: 'Done',
  rejected: 'Rejected',
  archived: 'Archived',
};

export const PRIORITIES = ['critical', 'high', 'normal', 'low'] as const;

export type Standing = { readonly kind?: string; readonly branch?: string } | string;

export interface Reason {
  readonly kind: string;
  readonly id?: string;
  readonly handle?: string;
  readonly title?: string;
  readonly state?: State;
  readonly claimed_by?: string;
  readonly key?: string;
}

export interface Card {
  readonly id: string;
  readonly handle: string;
  readonly title: string;
  readonly type: string;
  readonly state: State;
  readonly priority: string;
  readonly labels: readonly string[];
  readonly assignee?: string;
  readonly claimed_by?: string;
  readonly standing?: Standing;
  readonly gates: readonly string[];
  readonly updated_at: string;
  readonly blocked_by?: readonly Reason[];
}

export interface Lease {
  readonly lease_id: string;
  readonly issue_id?: string;
  readonly handle: string | null;
  readonly title: string | null;
  readonly resource?: string;
  readonly pattern?: string;
  readonly shared?: boolean;
  readonly agent_id: string;
  readonly worktree_id: string;
  readonly branch: string | null;
  readonly ttl_secs: number;
  readonly acquired_at: string;
  readonly expires_at: string | null;
  readonly fence: number;
  readonly stale: boolean;
  readonly reason: string | null;
  readonly remaining_secs?: number;
  readonly worktree_gone?: boolean;
  readonly keeper?: { readonly host: string; readonly pid: number; readonly gone: boolean };
}

export interface Held extends Lease {
  readonly last_sign: string;
  readonly renewals?: number;
}

export interface Lane {
  readonly agent_id: string;
  readonly worktree_id: string | null;
  readonly path: string | null;
  readonly branch: string | null;
  readonly gone: boolean;
  readonly leases: readonly Held[];
  readonly reservations: readonly Held[];
  readonly waits_for: readonly { readonly resource: string; readonly handle: string; readonly title: string | null }[];
}

export interface Attention {
  readonly kind: string;
  readonly issue_id: string;
  readonly handle: string;
  readonly title: string;
  readonly text: string;
  /** The claim that is to be ended, where that waits for approval. */
  readonly lease_id?: string;
}

export interface Worktree {
  readonly worktree_id: string | null;
  readonly agent: string | null;
  readonly path: string;
  readonly branch: string | null;
  readonly main: boolean;
  readonly current: boolean;
  readonly gone: boolean;
}

export interface Pool {
  readonly name: string;
  readonly running: boolean;
  readonly ending: boolean;
  readonly finished: number;
  readonly failed: number;
  readonly workers: readonly { readonly agent_id: string; readonly task: unknown }[];
}

export interface Board {
  readonly at: string;
  readonly agent_id: string | null;
  readonly worktree_id: string | null;
  readonly issues: readonly Card[];
  readonly count: number;
  readonly unreadable: number;
  readonly agents: readonly Lane[];
  readonly attention: readonly Attention[];
  readonly worktrees: readonly Worktree[];
  readonly pools: readonly Pool[];
}

export interface Note {
  readonly id: string;
  readonly at: string;
  readonly agent_id?: string;
  readonly text: string;
}

export interface Shown {
  readonly issue: {
    readonly id: string;
    readonly handle: string;
    readonly title: string;
    readonly type: string;
    readonly state: State;
    readonly priority: string;
    readonly description?: string;
    readonly assignee?: string;
    readonly gates?: readonly string[];
    readonly links?: Readonly<Record<string, string>>;
    readonly documents?: Readonly<Record<string, { readonly label?: string }>>;
    readonly created_at: string;
    readonly updated_at: string;
    readonly labels: readonly string[];
    readonly dependencies: readonly string[];
  };
  readonly lease: Lease | null;
  readonly blocked_by: readonly Reason[];
  readonly standing: Standing;
  readonly branches: readonly { readonly branch: string; readonly commit?: string }[];
  readonly notes: readonly Note[];
}

export interface Gate {
  readonly key: string;
  readonly status: 'open' | 'passed' | 'failed';
  readonly at?: string;
  readonly agent_id?: string;
  readonly note?: string;
  readonly exit_code?: number;
  readonly timed_out?: boolean;
  readonly output?: string;
}

export interface ClaimEvent {
  readonly sequence?: number;
  readonly event_type: string;
  readonly timestamp: string;
  readonly actor: { readonly agent_id: string; readonly worktree_id: string | null };
  readonly payload: {
    readonly lease_id: string;
    readonly issue_id?: string;
    readonly resource?: string;
    readonly pattern?: string;
    readonly agent_id: string;
    readonly worktree_id: string;
    readonly fence: number;
    readonly from_lease_id?: string;
    readonly ttl_secs?: number;
    readonly expires_at?: string;
    readonly reason?: string;
    readonly cause?: 'expired' | 'dead' | 'forced';
  };
  readonly handle: string | null;
  readonly title: string | null;
}

export interface Graph {
  readonly nodes: readonly {
    readonly id: string;
    readonly handle: string;
    readonly title: string | null;
    readonly state: State | null;
    readonly priority: string | null;
    readonly claimed_by?: string;
  }[];
  readonly edges: readonly { readonly from: string; readonly to: string }[];
}

export interface Lock {
  readonly door: string;
  readonly kind: string;
  readonly place: string;
  readonly name: string;
  readonly title?: string;
  readonly issue_id?: string;
  readonly holder: string | null;
  readonly since: string | null;
  readonly until: string | null;
  readonly fence: number | null;
  readonly state: string;
}

export interface AuditEntry {
  readonly at: string;
  readonly door: string;
  readonly place: string;
  readonly event: string;
  readonly by: string | null;
  readonly name: string | null;
}

export interface LockSource {
  readonly door: string | null;
  readonly place: string;
  readonly problem?: string;
  readonly no_audit?: string;
}

export interface Locks {
  readonly at: string;
  readonly locks: readonly Lock[];
  readonly audit: readonly AuditEntry[];
  readonly sources: readonly LockSource[];
}

/** What an issue's page is made of, looked at until its parts fit each other. */
export interface Detail {
  /** When it was looked, by the server's clock. */
  readonly at: number;
  readonly shown: Shown;
  readonly gates: readonly Gate[];
  readonly events: readonly ClaimEvent[];
}
