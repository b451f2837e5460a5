// What whoever asks for a step is told. Apart from the keeper, because the page needs to read replies and not to make them.

import type { RefusalCode } from './decide.js';
import type { Outcome } from './step.js';

export type Reply =
  | Outcome
  /** Others were at the record for too long. */
  | { readonly type: 'refused'; readonly code: 'BUSY' }
  | { readonly type: 'failed'; readonly stage: 'open' | 'read' | 'write'; readonly why: string };

/** Whether the rules, and not a busy or failing store, say that the lease is no more. */
export function isOver(reply: Reply): reply is { type: 'refused'; code: RefusalCode } {
  return reply.type === 'refused' && ['NOT_FOUND', 'EXPIRED', 'FENCED_OUT'].includes(reply.code);
}
