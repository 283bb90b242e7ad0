import type { Dtype } from '../../protocol/models.ts';
import { checkpointWeights, packInMemory } from '../models/checkpoint/convert-weights.ts';
import { layOut } from '../models/checkpoint/packed-weights.ts';
import type { EncoderConfig } from '../models/encoder/encoder-config.ts';
import type { Model } from '../models/family.ts';
import type { EncoderRow } from '../runtime/encoder-inputs.ts';
import { seededTensors } from '../runtime/gpu-check/seeded-tensors.ts';
import type { ModelBackend, PackedModel } from '../runtime/model-backend.ts';
import { ReferenceExecutor, ReferenceRow, weightsOf } from './reference-executor.ts';
import type { Vector } from './reference-operations.ts';
import { runRows } from './cpu-rows.ts';

/** Computes logits. */
export type TestedDecoder = Pick<ModelBackend, 'resize' | 'forward' | 'readLogits' | 'copyRows' | 'release'>;

/** Computes an encoder's vectors. */
export interface TestedEncoder {
  run(rows: readonly EncoderRow[]): Promise<readonly Float32Array[]>;
  release(): Promise<void>;
}

/** A reader of programs under test. */
export interface TestedReader {
  /** How it is given the weights. fp32, q8 and q4 hold those of the suite exactly. */
  readonly dtype: Dtype;
  /** The largest error of an output, as a share of the largest output. */
  readonly tolerance: number;
  createBackend(model: PackedModel): Promise<TestedDecoder>;
  createEncoder(model: PackedModel, encoder: EncoderConfig): Promise<TestedEncoder>;
}

type DecoderReader = Omit<TestedReader, 'createEncoder'>;

const LONG = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 36];
const SHORT = [27, 18, 28];
const SINGLE = [30];
const SEED = 46;

/** Errors above the tolerance, by what was computed. */
export type Wrong = Readonly<Record<string, number>>;

/** Rows of unequal lengths together, all tokens of a row, a prompt in chunks, and steps of rows of unequal lengths. */
export async function wrongLogits(reader: DecoderReader, model: Model): Promise<Wrong> {
  const { packed, executor } = await prepare(model, reader.dtype);
  const [long, short, single] = [LONG, SHORT, SINGLE].map((ids) => executor.run(new ReferenceRow(), ids));
  if (!long || !short || !single) throw new Error('Expected logits');
  const findings = new Findings(reader.tolerance, long);
  const backend = await reader.createBackend(packed);
  backend.resize({ numSlots: 2, numStagingRows: 3, capacity: 32, numSnapshots: 0 });
  const prefill = (...rows: Parameters<typeof runRows>[1]) => runRows(backend, rows, { target: 'staging' });

  const together = await prefill({ tokenIds: LONG }, { tokenIds: SHORT }, { tokenIds: SINGLE });
  findings.compare(
    'rows together',
    together,
    [long, short, single].flatMap((logits) => logits.slice(-1)),
  );
  const scoredTokens = Int32Array.from(LONG.keys());
  const scored = await runRows(backend, [{ tokenIds: LONG }], { target: 'staging', scoredTokens });
  findings.compare('all tokens', scored, [...long.slice(-1), ...long]);

  await prefill({ tokenIds: LONG.slice(0, 5) });
  findings.compare('a chunk', await prefill({ tokenIds: LONG.slice(5, 10), start: 5 }), long.slice(9, 10));
  backend.copyRows('staging', 'slots', [[0, 0]]);
  await prefill({ tokenIds: SHORT.slice(0, 1) });
  backend.copyRows('staging', 'slots', [[0, 1]]);
  for (const step of [0, 1]) {
    const rows = [
      { tokenIds: LONG.slice(10 + step, 11 + step), start: 10 + step },
      { tokenIds: SHORT.slice(1 + step, 2 + step), start: 1 + step },
    ];
    const expected = [long.slice(10 + step, 11 + step), short.slice(1 + step, 2 + step)].flat();
    findings.compare(`step ${step}`, await runRows(backend, rows), expected);
  }
  await backend.release();
  return findings.wrong;
}

/** Texts of unequal lengths, together and each alone. */
export async function wrongVectors(
  reader: TestedReader,
  model: Model & { readonly encoder: EncoderConfig },
): Promise<Wrong> {
  const { packed, executor } = await prepare(model, reader.dtype);
  const rows = [
    { tokenIds: LONG, numFirst: 5 },
    { tokenIds: SHORT, numFirst: 2 },
    { tokenIds: SINGLE, numFirst: 1 },
  ];
  const expected = rows.map((row) => executor.encode(row, model.encoder.pooling));
  const findings = new Findings(reader.tolerance, expected);
  const encoder = await reader.createEncoder(packed, model.encoder);
  findings.compare(
    'texts together',
    (await encoder.run(rows)).flatMap((vector) => [...vector]),
    expected,
  );
  for (const [i, row] of rows.entries()) {
    const [alone = []] = await encoder.run([row]);
    findings.compare(`text ${i} alone`, alone, expected.slice(i, i + 1));
  }
  await encoder.release();
  return findings.wrong;
}

async function prepare(model: Model, dtype: Dtype) {
  const tensors = seededTensors(model, SEED);
  const layoutOf = (stored: Dtype) => ({ layout: layOut(model.program.weights, stored, 'float32') });
  const inFloat32 = await packInMemory({ tensors }, layoutOf('fp32'));
  const executor = new ReferenceExecutor(model.program, weightsOf(inFloat32));
  return { packed: { model, ...checkpointWeights({ tensors }, layoutOf(dtype)) }, executor };
}

class Findings {
  readonly wrong: Record<string, number> = {};
  readonly #tolerance: number;
  readonly #largest: number;

  constructor(tolerance: number, outputs: readonly Vector[]) {
    this.#tolerance = tolerance;
    this.#largest = Math.max(...outputs.flat().map(Math.abs));
  }

  compare(what: string, actual: ArrayLike<number>, expected: readonly Vector[]): void {
    const values = expected.flat();
    const errors = values.map((value, i) => Math.abs(value - (actual[i] ?? NaN)) / this.#largest);
    const error = actual.length === values.length ? Math.max(...errors) : NaN;
    if (!(error <= this.#tolerance)) this.wrong[what] = error;
  }
}
