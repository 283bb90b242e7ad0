import * as v from 'valibot';
import type { Wire } from './wire.ts';

export const chatMessage = v.strictObject({
  role: v.picklist(['system', 'user', 'assistant']),
  content: v.string(),
});
/** One message of a chat. */
export type ChatMessage = Wire<typeof chatMessage>;
