// The package's entry `tabserve/ai-sdk`. Importing it has no effect, not even on a server.
export { createTabserve, type TabserveProvider } from './provider.ts';
export type { TabserveCallOptions, TabserveOptions, TextClient } from './options.ts';
