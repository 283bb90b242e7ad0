import type { Gpt2Config } from '../model/gpt2-config.ts';
import type { ForwardInput, ForwardOutput, Gpt2Backend } from './gpt2-backend.ts';

/** Test support: a model whose next token is always the last one plus one, recording what it is asked to do. */
export class ScriptedBackend implements Gpt2Backend {
  static readonly config: Gpt2Config = {
    vocabSize: 64,
    contextLength: 300,
    embeddingSize: 4,
    numLayers: 1,
    numHeads: 1,
    headSize: 4,
    innerSize: 16,
    layerNormEpsilon: 1e-5,
    eosTokenIds: [63],
  };
  /** One line per call. */
  readonly calls: string[] = [];
  /** A token id after which a row's logits are NaN. */
  poison: number | undefined;

  reserve(numSlots: number, capacity: number): void {
    this.calls.push(`reserve ${numSlots}x${capacity}`);
  }

  forward(input: ForwardInput): Promise<ForwardOutput> {
    const { target, numRows, tokensPerRow, ids, positions, lastIndices, wantsLogits } = input;
    this.calls.push(
      `forward ${target} ${numRows}x${tokensPerRow} ids ${ids.join()} positions ${positions.join()} last ${lastIndices.join()}` +
        (wantsLogits ? '' : ', no logits'),
    );
    const { vocabSize } = ScriptedBackend.config;
    const numRowsWithLogits = wantsLogits ? numRows : 0;
    const logits = new Float32Array(numRowsWithLogits * vocabSize);
    for (let row = 0; row < numRowsWithLogits; row++) {
      const last = ids[(row + 1) * tokensPerRow - 1] ?? 0;
      if (last === this.poison) logits.fill(Number.NaN, row * vocabSize, (row + 1) * vocabSize);
      else logits[row * vocabSize + last + 1] = 1;
    }
    const { promise, resolve } = Promise.withResolvers<ForwardOutput>();
    setTimeout(() => resolve({ logits, runMs: 2, readbackMs: 3 }));
    return promise;
  }

  copyStagingTo(slot: number): void {
    this.calls.push(`staging to ${slot}`);
  }

  moveSlot(from: number, to: number): void {
    this.calls.push(`move ${from} to ${to}`);
  }

  release(): Promise<void> {
    return Promise.resolve();
  }
}
