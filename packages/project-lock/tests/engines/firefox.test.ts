// The scenarios in Firefox.

import { startFirefox } from './firefox.js';
import { scenarios } from './scenarios.js';

scenarios('Firefox', startFirefox);
