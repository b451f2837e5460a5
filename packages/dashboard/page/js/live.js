// What the server tells as it happens. A browser has six connections to a server and would spend one on each tab, so of
// all tabs only one listens and passes on what it hears: the one that was looked at last, because a browser slows others down.
const NAME = 'jit-events';
const AGAIN_MS = 1000;
export function follow(hear) {
    const shared = 'locks' in navigator && 'BroadcastChannel' in window;
    if (!shared) {
        listen(hear);
        return;
    }
    const channel = new BroadcastChannel(NAME);
    /** What the others would have to know that come later; none if another one listens. */
    let last = null;
    channel.onmessage = ({ data }) => {
        if (data.kind !== 'hello')
            hear(data);
        else if (last)
            channel.postMessage(last);
    };
    const lead = () => {
        last = { kind: 'away' };
        return listen((news) => {
            last = news.kind === 'news' || news.kind === 'board' ? last : news;
            channel.postMessage(news);
            hear(news);
        });
    };
    queue(() => lead(), () => (last = null));
    channel.postMessage({ kind: 'hello' });
}
/** Listens whenever it is this tab's turn. */
function queue(lead, over) {
    let leads = false;
    const take = (options) => {
        const turn = async () => {
            leads = true;
            const stop = lead();
            await new Promise((resolve) => (release = resolve));
            stop();
        };
        let release = () => { };
        void navigator.locks.request(NAME, options, turn).catch(() => {
            // Another tab is looked at, and has taken it.
            release();
            leads = false;
            over();
            take({});
        });
    };
    take(document.hidden ? {} : { steal: true });
    document.addEventListener('visibilitychange', () => {
        if (!document.hidden && !leads)
            take({ steal: true });
    });
}
function listen(hear) {
    let source = null;
    let timer = 0;
    let stopped = false;
    const open = () => {
        source = new EventSource('/api/events?board=1');
        source.onopen = () => hear({ kind: 'open' });
        for (const name of ['claim', 'issue', 'changed', 'anew'])
            source.addEventListener(name, () => hear({ kind: 'news' }));
        source.addEventListener('board', ({ data }) => hear({ kind: 'board', text: String(data) }));
        source.addEventListener('well', () => hear({ kind: 'open' }));
        source.addEventListener('trouble', ({ data }) => hear({ kind: 'trouble', text: reason(String(data)) }));
        source.onerror = () => {
            hear({ kind: 'away' });
            // A browser gives up for good where there was an answer of another kind; whatever it does, it is asked again here.
            source?.close();
            if (!stopped)
                timer = window.setTimeout(open, AGAIN_MS);
        };
    };
    open();
    return () => {
        stopped = true;
        clearTimeout(timer);
        source?.close();
    };
}
function reason(text) {
    try {
        const { error } = JSON.parse(text);
        return error?.message ?? text;
    }
    catch {
        return text;
    }
}
