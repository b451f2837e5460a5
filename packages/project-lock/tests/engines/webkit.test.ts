// The scenarios in WebKitGTK.

import { startWebKit } from './webkit.js';
import { scenarios } from './scenarios.js';

scenarios('WebKit', startWebKit);
