import type { GenerationOptions } from '../../src/protocol/generation.ts';
import type { TextRequest } from '../support/tab.ts';

type KnownRequest = TextRequest & {
  readonly prompt: string;
  readonly options: GenerationOptions;
  readonly text: string;
};

export interface LoadOptions {
  readonly seed: number;
  readonly known: readonly KnownRequest[];
  readonly house: { readonly features: readonly number[]; readonly price: number };
  /** Messages of runs that a fault has rejected. */
  readonly injected: readonly string[];
}

export interface LoadCounts {
  readonly finished: number;
  readonly cancelled: number;
  /** By the adder and the model of house prices. */
  readonly answered: number;
  /** Batches of the house-price model that an injected fault has rejected. No other batch may fail. */
  readonly refused: number;
  /** Differences from a run without faults, in words. */
  readonly complaints: readonly string[];
}

declare global {
  interface Window {
    /** Stops submitting. Resolves when all submitted requests have settled. */
    endLoad?: () => Promise<LoadCounts>;
  }
}

/** Runs in the page. It is sent there as text, so it can't use anything outside of itself. */
export function startLoad({ seed, known, house, injected }: LoadOptions): void {
  const NUM_STREAMS = 4;
  const serve = window.tabserve;
  const counts = { finished: 0, cancelled: 0, answered: 0, refused: 0, complaints: new Array<string>() };
  const load = { isOver: false };
  let state = seed;
  const random = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const complainOf = (what: string, error: unknown): void =>
    void counts.complaints.push(`${what}: ${String(error)}`);

  async function generate(isPatient: boolean): Promise<void> {
    const request = known[Math.floor(random() * known.length)];
    if (!request) return;
    const response = serve.generate(request.prompt, request.options);
    let patience = isPatient ? Infinity : Math.floor(random() * 8);
    try {
      let streamed = request.prompt;
      for await (const { text } of response) {
        streamed += text;
        patience -= 1;
        if (patience <= 0) response.cancel();
      }
      const { text } = await response.result();
      if (text !== request.text) complainOf(`The text of seed ${request.options.seed}`, text);
      if (text !== streamed) complainOf(`The stream of seed ${request.options.seed}`, streamed);
      counts.finished += 1;
    } catch (error) {
      if (!isPatient && String(error).startsWith('AbortError')) counts.cancelled += 1;
      else complainOf(`The request of seed ${request.options.seed}`, error);
    }
  }

  async function answer(): Promise<void> {
    const number = Math.floor(random() * 1000);
    try {
      const [sum, price] = await Promise.all([
        serve.getHandle('adder').remote(number),
        serve.getHandle('house-price').remote(house.features),
      ]);
      if (sum !== number + 1) complainOf(`The adder's answer to ${number}`, sum);
      // PyTorch computes it in float64.
      if (!(Math.abs(price / house.price - 1) < 1e-4)) complainOf('The price', price);
      counts.answered += 2;
    } catch (error) {
      if (injected.some((message) => String(error).endsWith(message))) counts.refused += 1;
      else complainOf('An answer', error);
    }
  }

  async function runStream(): Promise<void> {
    while (!load.isOver) {
      const choice = random();
      if (choice < 0.15) await answer();
      else await generate(choice < 0.85);
    }
  }

  const streams = Promise.all(Array.from({ length: NUM_STREAMS }, runStream));
  window.endLoad = async () => {
    load.isOver = true;
    await streams;
    return counts;
  };
}
