import { findBrowser } from '../bridge/browser/find-browser.ts';

// `npm test` installs a missing browser, which waits for the network, while the checks compute.
await findBrowser();
