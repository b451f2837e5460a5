// Moments and spans as people read them, and the server's clock, which is the one that leases go by.
let ahead = 0;
/** Sets this page's idea of the server's clock by the `Date` of an answer, which has no more than seconds. */
export function setClock(date) {
    const told = date === null ? Number.NaN : Date.parse(date);
    if (Number.isNaN(told))
        return;
    const off = told + 500 - Date.now();
    // On one machine, or between clocks that agree, seconds are not precise enough to mend anything.
    ahead = Math.abs(off) < 1500 ? 0 : off;
}
export function now() {
    return Date.now() + ahead;
}
/** For how many seconds what a page says of moments and spans is good: where somebody works with it, and beside others. */
export function goodFor() {
    return document.hasFocus() ? 1 : 5;
}
/** Another number whenever that time is over. */
export function beat() {
    return Math.floor(now() / (1000 * goodFor()));
}
/** `4:07`, `1:02:09`, `3 d 4 h`. */
export function clock(ms) {
    const secs = Math.max(0, Math.floor(ms / 1000));
    const two = (n) => String(n).padStart(2, '0');
    if (secs >= 86_400)
        return `${Math.floor(secs / 86_400)} d ${Math.floor((secs % 86_400) / 3600)} h`;
    const [hours, minutes] = [Math.floor(secs / 3600), Math.floor((secs % 3600) / 60)];
    return hours > 0 ? `${hours}:${two(minutes)}:${two(secs % 60)}` : `${minutes}:${two(secs % 60)}`;
}
/** `12 s`, `4 min`, `3 h`, `2 d`. */
export function span(ms) {
    const secs = Math.max(0, Math.round(ms / 1000));
    if (secs < 100)
        return `${secs} s`;
    if (secs < 6_000)
        return `${Math.round(secs / 60)} min`;
    if (secs < 172_800)
        return `${Math.round(secs / 3600)} h`;
    return `${Math.round(secs / 86_400)} d`;
}
export function ago(iso) {
    const ms = now() - Date.parse(iso);
    return ms < 1500 ? 'just now' : `${span(ms)} ago`;
}
// Made once: each takes longer to make than a page takes to be drawn.
const TIME = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const DAY = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' });
/** A moment of this place's day, with the date if it is not today's. */
export function moment(at) {
    const date = new Date(at);
    if (Number.isNaN(date.getTime()))
        return String(at);
    const today = new Date(now()).toDateString() === date.toDateString();
    return today ? TIME.format(date) : `${DAY.format(date)}, ${TIME.format(date)}`;
}
