// The worker: the place from which the record is touched, if there can be one. A page has one for all its projects; it keeps
// no handle for more than milliseconds.

import { openOpfs } from './opfs.js';
import { serve } from './serve.js';
import type { Request } from './wire.js';

const answer = serve((message) => (self as unknown as Worker).postMessage(message), openOpfs);

self.onmessage = ({ data }: MessageEvent<Request>) => void answer(data);
