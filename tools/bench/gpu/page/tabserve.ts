import { connect, type TabserveClient } from '../../../../src/client/client.ts';
import { createWorker } from '../../../../src/ui/create-worker.ts';
import type { BackendName, Contender } from '../../peers/contender.ts';
import type { ReferenceAnswer, TabserveModel } from '../contender.ts';

/** Prompt tokens between two decode steps: enough for the 8 rows of the largest prefill, so that a whole batch soon decodes. */
const MAX_BATCHED_TOKENS = 8192;
/** Rows that decode wait for the others' prompts, or they would end before the last one decodes. */
const PREFILL_STALL_MS = 60_000;
/** Number of likeliest tokens to report: enough to include those of another backend. */
const NUM_LOGPROBS = 20;

/** The client as a page uses it, with a model in the requested precision. */
export class Tabserve implements Contender {
  readonly #serve: TabserveClient;

  constructor(serve: TabserveClient) {
    this.#serve = serve;
  }

  static async load(backend: BackendName, { id, fileNames, precision }: TabserveModel): Promise<Tabserve> {
    if (fileNames === 'gguf') {
      const serve = await connect({ worker: createWorker, backend, model: null });
      await serve.loadModel([await fetchFile(`${id}.gguf`)], { dtype: precision });
      return new Tabserve(serve);
    }
    const serve = await connect({ worker: createWorker, backend, model: `./models/${id}/` });
    const status = await serve.ready();
    if (status.backend?.precision !== precision) {
      const files = await Promise.all(fileNames.map((name) => fetchFile(`${id}/${name}`)));
      await serve.loadModel(files, { dtype: precision });
    }
    return new Tabserve(serve);
  }

  get runsOn(): string {
    const { backend } = this.#serve.status();
    return `${backend?.adapter}, ${backend?.precision}`;
  }

  /** Turns prefix caching off: the same prompts come in each round and must be prefilled again. */
  async prepare(numRows: number): Promise<void> {
    await this.#serve.configure('text-generator', {
      policy: 'continuous',
      maxBatchSize: numRows,
      maxBatchedTokens: MAX_BATCHED_TOKENS,
      prefillStallMs: PREFILL_STALL_MS,
      prefixCaching: false,
    });
  }

  async generate({ prompt, maxNewTokens }: { prompt: string; maxNewTokens: number }, onToken: () => void) {
    const response = this.#serve
      .getHandle('text-generator')
      .remote(prompt, { temperature: 0, maxNewTokens, ignoreEos: true });
    for await (const { tokenIds } of response) for (const _ of tokenIds) onToken();
    const { tokenIds, usage } = await response.result();
    if (usage.numPromptTokens !== prompt.length)
      throw new Error(`Expected a token per character of “${prompt}”, got ${usage.numPromptTokens}`);
    return { tokenIds };
  }

  /** Greedy answers, with how sure the model was of each token. */
  async answer(prompts: readonly string[], maxNewTokens: number): Promise<ReferenceAnswer[]> {
    await this.prepare(prompts.length);
    const options = { temperature: 0, maxNewTokens, ignoreEos: true, logprobs: NUM_LOGPROBS };
    const responses = this.#serve.getHandle('text-generator').remoteAll(prompts, options);
    return Promise.all(
      responses.map(async (response, index) => {
        const pieces: { text: string; numTokens: number }[] = [];
        for await (const { text, tokenIds } of response) pieces.push({ text, numTokens: tokenIds.length });
        const { tokenIds, logprobs = [] } = await response.result();
        return {
          prompt: prompts[index] ?? '',
          tokenIds,
          pieces,
          leads: logprobs.map(
            ({ top: [first, second] }) => (first?.logprob ?? 0) - (second?.logprob ?? -Infinity),
          ),
          first: logprobs[0]?.top ?? [],
        };
      }),
    );
  }
}

async function fetchFile(path: string): Promise<File> {
  const response = await fetch(`models/${path}`);
  if (!response.ok) throw new Error(`Couldn't fetch ${path}: ${response.status}`);
  const file = new File([await response.blob()], path.split('/').at(-1) ?? path);
  // A picked folder sets this path. The model is named after the folder.
  return path.includes('/') ? Object.defineProperty(file, 'webkitRelativePath', { value: path }) : file;
}
