// Serves the demo page and says where it is. Open it in two tabs.

import { serve } from './serve.mjs';

const site = await serve(Number(process.env.PORT ?? 0));
console.log(`open this in two tabs: http://127.0.0.1:${site.port}/demo/index.html`);
console.log('Ctrl-C ends it');
