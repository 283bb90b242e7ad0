import type { TabserveClient } from '../../src/client/client.ts';
import { RERANKER } from '../../src/protocol/embedding.ts';
import type { BackendInfo, EncoderInfo } from '../../src/protocol/models.ts';
import type { TabserveStatus } from '../../src/protocol/status.ts';

/** Few, because other requests may already wait. */
const NUM_MEASURED_TOKENS = 32;

/** A device that takes longer has no speed worth a line. */
const MEASUREMENT_TIMEOUT_MS = 20_000;

/**
 * Says which model is ready, where and why there, how fast it is, and how to ask it.
 *
 * @param secondsToReady From the start of the server. Left out after the first model.
 */
export async function readyLine(
  serve: Pick<TabserveClient, 'getHandle'>,
  {
    model,
    backend,
    encoders = [],
    deployments,
  }: Pick<TabserveStatus, 'model' | 'backend' | 'encoders' | 'deployments'>,
  url: string,
  secondsToReady: number | undefined,
): Promise<string> {
  const [encoder] = encoders;
  if (!model || !backend)
    return encoder
      ? encoderLine(encoder, url)
      : deploymentLine(
          deployments.map(({ name }) => name),
          url,
        );
  const tokensPerSecond = backend.name === 'server' ? undefined : await measureSpeed(serve);
  const facts = [
    `${model.id} is ready on ${placeOf(backend)}`,
    tokensPerSecond && `${tokensPerSecond.toFixed(tokensPerSecond < 10 ? 1 : 0)} tokens/s`,
    secondsToReady && `${secondsToReady.toFixed(1)} s after the start`,
  ];
  const why = backend.fallbackReason && ` (${backend.fallbackReason})`;
  return `${facts.filter(Boolean).join(', ')}${why}. Try: ${model.hasChatTemplate ? chatCurl(url) : textCurl(url)}`;
}

/** Says that a model is ready, and how to ask it. */
export function encoderLine(encoder: EncoderInfo, url: string): string {
  const { id, deployment, backend } = encoder;
  const [path, body] =
    deployment === RERANKER
      ? ['/v1/rerank', { query: 'fox', documents: ['The quick fox', 'A dog'] }]
      : ['/v1/embeddings', { input: 'Once upon a time' }];
  const curl = `curl ${url}${path} -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
  return `${id} is ready on ${placeOf(backend)}. Try: ${curl}`;
}

function placeOf({ name, precision, adapter }: BackendInfo): string {
  return name === 'wasm' ? adapter : `${name} ${precision}, ${adapter}`;
}

/** Says which deployments of a page without a model answer. */
function deploymentLine(names: readonly string[], url: string): string {
  const paths = names.map((name) => `${url}/deployments/${encodeURIComponent(name)}`);
  return `Ready without a model: ${paths.length === 0 ? 'no deployment serves either' : paths.join(', ')}.`;
}

/** Undefined if the model can't answer at its current knobs, or not in time. */
async function measureSpeed(serve: Pick<TabserveClient, 'getHandle'>): Promise<number | undefined> {
  const options = {
    maxNewTokens: NUM_MEASURED_TOKENS,
    temperature: 0,
    ignoreEos: true,
    timeoutMs: MEASUREMENT_TIMEOUT_MS,
  };
  try {
    const { timings } = await serve.getHandle('text-generator').remote('Once upon a time', options).result();
    return timings.tpotMs > 0 ? 1000 / timings.tpotMs : undefined;
  } catch {
    return undefined;
  }
}

function chatCurl(url: string): string {
  const body = { messages: [{ role: 'user', content: 'Hello' }], max_tokens: 64 };
  return `curl ${url}/v1/chat/completions -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
}

function textCurl(url: string): string {
  return `curl "${url}/?text=Once+upon+a+time"`;
}
