import { PROTOCOL_VERSION } from './wire.ts';

// Names that the bridge and its pages share.

/** Names the `meta` element in a page of the bridge; its content is the folder of the two paths below. */
export const BRIDGE_META = 'tabserve-bridge';

/** Names the `meta` element whose content is the origin of the server's hub. */
export const HUB_META = 'tabserve-hub';

/** Names a `meta` element for each model on the disk of the page's server. Its content is `id@revision`. */
export const LOCAL_MODEL_META = 'tabserve-local-model';

/** Names the `meta` element whose content is the server that the page is connected to, under the page's own address. */
export const SERVER_META = 'tabserve-server';

/** The owner in the IDs of those models, for which the server is the hub. */
export const LOCAL_OWNER = 'local';

/** Below the root of the site. */
export const BRIDGE_FOLDER = '/bridge/';

/** Path below the folder. It answers with the secret of this run of the bridge, which pages of other origins cannot read. */
export const TOKEN_PATH = 'token';

/** 32 bytes in hex. Another server may answer anything else at that path. */
export const TOKEN_FORM = /^[0-9a-f]{64}$/;

/** Path of the current worker's WebSocket, below the folder. */
export const SOCKET_PATH = 'socket';

/** The WebSocket's subprotocol. The worker offers the token as a second one: a page cannot set headers of a WebSocket. */
export const BRIDGE_SUBPROTOCOL = `tabserve.v${PROTOCOL_VERSION}`;
