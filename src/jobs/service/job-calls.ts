import type { CallName } from '../../protocol/call-answers.ts';

/** The calls that a client makes about jobs. */
export type JobCall = Extract<CallName, `${string}job${string}`>;

export function isJobCall<Message extends { readonly type: string }>(
  message: Message,
): message is Extract<Message, { readonly type: JobCall }> {
  return message.type.includes('job');
}
