import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';

import { smollm2File } from '../../reference/gguf/smollm2.ts';
import { SMOLLM2_SIZE, smolLm2Size } from '../../hub-server/checkpoints/full-size-llama.ts';
import { createRepository } from '../../hub-server/hub-repository.ts';
import { startHubServer } from '../../hub-server/hub-server.ts';
import { sum } from '../statistics.ts';

/** The files that a load fetches: bf16 weights in safetensors, or the GGUF file of SmolLM2-135M-Instruct in Q4_1. */
export const FORMATS = ['safetensors', 'gguf'] as const;
export type Format = (typeof FORMATS)[number];

export interface PacedHub extends AsyncDisposable {
  readonly id: string;
  readonly url: string;
  readonly size: number;
  /** Resolves when the last piece of the weights is sent. For one load. */
  whenSent(): Promise<void>;
}

/**
 * A hub with one model of 135 million parameters, which it sends at a given speed over all connections together.
 *
 * @param bytesPerSecond Of the weights; Infinity for as fast as it can.
 */
export async function startPacedHub(format: Format, bytesPerSecond: number): Promise<PacedHub> {
  const { id, files } = await modelOf(format);
  const hub = await startHubServer([createRepository(id, files)]);
  const weights = [...files].filter(([name]) => /\.(?:safetensors|gguf)$/.test(name));
  const size = sum(weights.map(([, { byteLength }]) => byteLength));
  let dueAtMs = 0;
  let sent = Promise.withResolvers<void>();
  const gate = async (): Promise<boolean> => {
    dueAtMs = Math.max(dueAtMs, performance.now()) + (1000 * PIECE_BYTES) / bytesPerSecond;
    const waitMs = dueAtMs - performance.now();
    // A timer may be late by a millisecond, which the next pieces catch up with.
    if (waitMs > TIMER_MS) await new Promise((resolve) => void setTimeout(resolve, waitMs));
    const numSent = sum(hub.requests.map(({ kind, bytesSent }) => (kind === 'content' ? bytesSent : 0)));
    if (numSent + PIECE_BYTES >= size) sent.resolve();
    return true;
  };
  hub.fault = ({ kind }) => (kind === 'content' ? { gate } : undefined);
  return {
    id,
    url: hub.url,
    size,
    whenSent() {
      hub.forget();
      sent = Promise.withResolvers();
      return sent.promise;
    },
    [Symbol.asyncDispose]: () => hub.close(),
  };
}

/** What the hub sends between two calls of a gate. */
const PIECE_BYTES = 16 * 1024;
const TIMER_MS = 4;

async function modelOf(format: Format): Promise<{ id: string; files: ReadonlyMap<string, Uint8Array> }> {
  if (format === 'gguf') {
    const path = await smollm2File();
    return { id: 'generated/smollm2-135m-gguf', files: new Map([[basename(path), await readFile(path)]]) };
  }
  const files = Array.from(smolLm2Size(), ([name, file]) => [name, file.read(0, file.size)] as const);
  return { id: SMOLLM2_SIZE, files: new Map(files) };
}
