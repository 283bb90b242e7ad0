import type { GenerationResult, TabserveStats, TabserveStatus } from 'tabserve';
import { useGeneration, useStats, useTabserve } from 'tabserve/react';

import type { deployments } from './deployments.js';
import { sameType } from './same-type.js';

const worker = (): Worker => new Worker(new URL('my-worker.js', import.meta.url), { type: 'module' });

export function Story() {
  const { serve, status, error } = useTabserve<typeof deployments>({ name: 'app', worker });
  sameType<typeof status, TabserveStatus | undefined>();
  sameType<typeof error, Error | undefined>();
  const shout = serve?.getHandle('shout');
  // @ts-expect-error -- a number is no text
  void shout?.remote(3);
  // @ts-expect-error -- before the first connection there is no client
  serve.status();
  const { text, result, isRunning, generate, cancel } = useGeneration(serve);
  sameType<typeof text, string>();
  sameType<typeof result, GenerationResult | undefined>();
  sameType<typeof isRunning, boolean>();
  generate('Once', { maxNewTokens: 8, seed: undefined });
  generate([{ role: 'user', content: 'Hello' }]);
  // @ts-expect-error -- a misspelled option
  generate('Once', { maxTokens: 8 });
  const stats = useStats(serve);
  sameType<typeof stats, TabserveStats | undefined>();
  // @ts-expect-error -- the hook takes a client, not what useTabserve returns
  useStats({ serve });
  return <button onClick={cancel}>{text}</button>;
}

export function Nameless() {
  // @ts-expect-error -- the app owns its worker
  useTabserve({ name: 'app' });
  const { serve } = useTabserve({ worker, name: undefined, canLead: undefined });
  void serve?.getHandle('text-generator').remote('Once');
  return null;
}
