import * as v from 'valibot';
import type { HostMessage } from './protocol.ts';
import { count, duration, fault, requestId, rung, version } from './wire-schema.ts';

const hostMessage: v.GenericSchema<unknown, HostMessage> = v.variant('type', [
  v.object({ version, type: v.literal('alive') }),
  v.object({ version, type: v.literal('on-rung'), rung }),
  v.object({ version, type: v.literal('ready') }),
  v.object({ version, type: v.literal('busy') }),
  v.object({ version, type: v.literal('idle') }),
  v.object({ version, type: v.literal('progress') }),
  v.object({
    version,
    type: v.literal('step'),
    requestIds: v.array(requestId),
    stalledIds: v.array(requestId),
  }),
  v.object({ version, type: v.literal('pong'), patienceMs: duration }),
  v.object({
    version,
    type: v.literal('fault'),
    fault,
    stalledIds: v.array(requestId),
    numRunning: count,
  }),
]);

/** The door of the tab that made the worker; what is no message to it as such is undefined. */
export function parseHostMessage(data: unknown): HostMessage | undefined {
  const result = v.safeParse(hostMessage, data, { abortEarly: true });
  return result.success ? result.output : undefined;
}
