// The package's entry `tabserve/node`: the bridge, for servers of one's own.
export { Bridge, type BridgeOptions } from './bridge.ts';
export { BridgeError, type BridgeErrorCode } from './base/errors.ts';
export type { LogEntry } from './http/access-log.ts';
export { startServer, type RunningServer, type ServerOptions } from './server.ts';
export type { ForwardTarget } from './forward/fetch-target.ts';
