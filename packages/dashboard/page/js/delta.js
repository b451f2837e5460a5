// A board made of the one before and of what has changed: a board of ten thousand issues is megabytes, and most of it stays.
/** The board that comes of it; none if it is not about this one. */
export function patched(before, tag, delta) {
    if (delta.from === undefined || delta.from !== tag || !delta.board)
        return null;
    const cards = new Map(before.issues.map((card) => [card.id, card]));
    const count = cards.size;
    for (const card of delta.board.issues)
        cards.set(card.id, card);
    const issues = cards.size === count ? [...cards.values()] : [...cards.values()].sort((one, other) => (one.id < other.id ? -1 : 1));
    const gone = new Set(delta.gone ?? []);
    return { ...delta.board, issues: gone.size === 0 ? issues : issues.filter((card) => !gone.has(card.id)) };
}
