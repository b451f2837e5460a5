// What a command causes, or why it is refused: as much of the kernel's rules as one project in one browser needs. Held
// to them by `spec/vectors`. Pure: no clock, no storage, no randomness; whoever calls it is inside an exclusive section.

/** A grant of the project to a holder. */
export interface Lease {
  readonly id: string;
  readonly holder: string;
  readonly fence: number;
  readonly ttl: number;
  readonly deadline: number;
}

/** How long a lease may be. */
export interface Policy {
  readonly minTtl: number;
  readonly maxTtl: number;
}

export type Command =
  | {
      readonly type: 'acquire';
      readonly id: string;
      readonly holder: string;
      readonly ttl: number;
      /** Leases whose holders are known to be gone. */
      readonly dead: readonly string[];
    }
  | { readonly type: 'renew'; readonly lease: string; readonly holder: string; readonly ttl: number | null }
  | { readonly type: 'release'; readonly lease: string; readonly holder: string }
  | { readonly type: 'check'; readonly lease: string; readonly holder: string; readonly fence: number };

/** A command of somebody who says that a lease is theirs. */
type OfLease = Exclude<Command, { type: 'acquire' }>;

export type LeaseEvent =
  | { readonly type: 'granted'; readonly lease: Lease }
  | { readonly type: 'renewed'; readonly lease: string; readonly ttl: number; readonly at: number }
  | { readonly type: 'released'; readonly lease: string }
  | { readonly type: 'evicted'; readonly lease: string; readonly cause: 'expired' | 'dead' };

export type RefusalCode =
  | 'HELD'
  | 'ALREADY_HELD'
  | 'NOT_FOUND'
  | 'NOT_HOLDER'
  | 'EXPIRED'
  | 'FENCED_OUT'
  | 'TTL_OUT_OF_RANGE'
  | 'DEADLINE_TOO_FAR'
  | 'DUPLICATE_ID'
  | 'COUNTER_BEHIND'
  | 'FENCES_EXHAUSTED';

export interface Refusal {
  readonly code: RefusalCode;
  /** After how many milliseconds the same command is not refused for the same reason. */
  readonly retryAfter?: number;
}

export interface Decision {
  readonly events: readonly LeaseEvent[];
  readonly lease: Lease;
}

/** The last moment that has a date: the end of the year 9999. */
const LAST_MOMENT = 253_402_300_799_999;
const LONGEST_TTL = 36_600 * 86_400_000;

/** Decides `command` at `now`; `next` is the counter's position that the first event will have. */
export function decide(
  held: Lease | null,
  policy: Policy,
  command: Command,
  now: number,
  next: number,
): Decision | Refusal {
  const decision = rule(held, policy, command, now, next);
  const last = 'code' in decision ? 0 : next + decision.events.length;
  return last > Number.MAX_SAFE_INTEGER ? { code: 'FENCES_EXHAUSTED' } : decision;
}

/** Puts an event of a decision into effect. */
export function apply(held: Lease | null, event: LeaseEvent): Lease | null {
  if (event.type === 'granted') return event.lease;
  if (event.type === 'renewed') return held && { ...held, ttl: event.ttl, deadline: event.at + event.ttl };
  return null;
}

function rule(held: Lease | null, policy: Policy, command: Command, now: number, next: number): Decision | Refusal {
  switch (command.type) {
    case 'acquire':
      return acquire(held, policy, command, now, next);
    case 'renew':
      return renew(held, policy, command, now);
    case 'release': {
      const lease = own(held, command);
      if ('code' in lease) return lease;
      // Also past the deadline: as long as nobody took it, its holder may give it back.
      return { events: [{ type: 'released', lease: lease.id }], lease };
    }
    case 'check': {
      if (held?.id !== command.lease || held.fence !== command.fence) return { code: 'FENCED_OUT' };
      const lease = inForce(held, command, now);
      return 'code' in lease ? lease : { events: [], lease };
    }
  }
}

function acquire(
  held: Lease | null,
  policy: Policy,
  wanted: Extract<Command, { type: 'acquire' }>,
  now: number,
  next: number,
): Decision | Refusal {
  const over = !held || now >= held.deadline;
  const dead = held !== null && wanted.dead.includes(held.id);
  if (held && !over && !dead && held.holder === wanted.holder) return { code: 'ALREADY_HELD' };
  const unlawful = length(policy, wanted.ttl, now);
  if (unlawful) return unlawful;
  if (held?.id === wanted.id) return { code: 'DUPLICATE_ID' };
  if (held && !over && !dead) return { code: 'HELD', retryAfter: held.deadline - now };
  if (held && held.fence >= next) return { code: 'COUNTER_BEHIND' };

  const events: LeaseEvent[] = held
    ? [{ type: 'evicted', lease: held.id, cause: dead ? 'dead' : 'expired' }]
    : [];
  const { id, holder, ttl } = wanted;
  const lease = { id, holder, fence: next + events.length, ttl, deadline: now + ttl };
  return { events: [...events, { type: 'granted', lease }], lease };
}

function renew(
  held: Lease | null,
  policy: Policy,
  command: Extract<Command, { type: 'renew' }>,
  now: number,
): Decision | Refusal {
  const lease = inForce(held, command, now);
  if ('code' in lease) return lease;
  const ttl = command.ttl ?? lease.ttl;
  const unlawful = length(policy, ttl, now);
  if (unlawful) return unlawful;
  return {
    events: [{ type: 'renewed', lease: lease.id, ttl, at: now }],
    lease: { ...lease, ttl, deadline: now + ttl },
  };
}

function length(policy: Policy, ttl: number, now: number): Refusal | null {
  const [min, max] = [Math.max(policy.minTtl, 1), Math.min(policy.maxTtl, LONGEST_TTL)];
  // Written so that what is no number is refused too.
  if (!(Number.isInteger(ttl) && ttl >= min && ttl <= max)) return { code: 'TTL_OUT_OF_RANGE' };
  return now + ttl > LAST_MOMENT ? { code: 'DEADLINE_TOO_FAR' } : null;
}

/** The lease, if it is this holder's. */
function own(held: Lease | null, { lease, holder }: OfLease): Lease | Refusal {
  if (held?.id !== lease) return { code: 'NOT_FOUND' };
  return held.holder === holder ? held : { code: 'NOT_HOLDER' };
}

/** The lease, if it is this holder's and not over. */
function inForce(held: Lease | null, command: OfLease, now: number): Lease | Refusal {
  const lease = own(held, command);
  return 'code' in lease || now < lease.deadline ? lease : { code: 'EXPIRED' };
}
