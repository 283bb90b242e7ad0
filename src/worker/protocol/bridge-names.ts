import { PROTOCOL_VERSION } from './wire.ts';

// What the bridge and the pages that it serves call each other by.

/** The `meta` element in a page that the bridge serves; its content is the folder of the two paths below. */
export const BRIDGE_META = 'tabserve-bridge';

/** The `meta` element that names the hub of a server; its content is an origin. */
export const HUB_META = 'tabserve-hub';

/** Below the root of the site. */
export const BRIDGE_FOLDER = '/bridge/';

/** Below the folder: the secret of this run of the bridge, for pages of its own origin. */
export const TOKEN_PATH = 'token';

/** 32 bytes in hex: another server may answer at that path as well. */
export const TOKEN_FORM = /^[0-9a-f]{64}$/;

/** Below the folder: the WebSocket of the worker that serves. */
export const SOCKET_PATH = 'socket';

/** The WebSocket's subprotocol, of one version on both sides. The token is offered beside it: a page can set no header there. */
export const BRIDGE_SUBPROTOCOL = `tabserve.v${PROTOCOL_VERSION}`;
