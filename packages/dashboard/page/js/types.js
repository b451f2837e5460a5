// The documents that the server sends, as far as the page reads them. `/openapi.json` has all of them.
/** In the order of work. */
export const STATES = ['backlog', 'ready', 'in_progress', 'gated', 'done', 'rejected', 'archived'];
export const STATE_WORDS = {
    backlog: 'Backlog',
    ready: 'Ready',
    in_progress: 'In progress',
    gated: 'Gated',
    done: 'Done',
    rejected: 'Rejected',
    archived: 'Archived',
};
export const PRIORITIES = ['critical', 'high', 'normal', 'low'];
