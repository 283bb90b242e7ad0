import type { TurnOwner } from '../../batching/generation/request-queue.ts';
import { asClientId } from '../protocol/ids.ts';
import type { ClientId, RequestId, TurnSigns } from '../protocol/protocol.ts';

/**
 * Whose turn a request waits for. A peer of the bridge takes turns with the tabs, as a client of its own. Within a peer its keys
 * take turns, within a key its users, and within a user the HTTP requests.
 */
export function turnOwnerOf(
  clientId: ClientId,
  requestId: RequestId,
  { turnId = requestId, caller = [] }: TurnSigns,
): TurnOwner {
  const [peer, ...inner] = caller;
  const turn = [...inner, turnId];
  return peer === undefined ? { clientId, turn } : { clientId: asClientId(`${clientId}/${peer}`), turn };
}
