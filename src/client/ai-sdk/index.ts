// The package's entry `tabserve/ai-sdk`. It has no effect when it is imported, on a server neither.
export { createTabserve, type TabserveProvider } from './provider.ts';
export type { TabserveCallOptions, TabserveOptions, TextClient } from './options.ts';
