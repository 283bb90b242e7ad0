import type { ModelTensor } from '../../models/program/model-config.ts';
import type { Op, Program, Value } from '../../models/program/program.ts';
import type { Rope } from '../../models/program/rope.ts';
import type { CpuMemory } from '../memory/cpu-memory.ts';
import type { Kernels } from '../kernels/kernels.ts';
import type { PlacedTensor, PlacedWeights } from '../weights/place-weights.ts';
import { Arena } from './arena.ts';
import { AttentionScratch } from './attention-scratch.ts';
import { Buffers, type Place } from './buffers.ts';
import { LogitRows } from './logit-rows.ts';
import type { Pass, Step } from './pass.ts';
import { RotaryTables } from './rotary-tables.ts';

/** Places of each token's inputs. */
export interface TokenPlaces {
  /** int32 each. */
  readonly token: Place;
  readonly position: Place;
  readonly type: Place;
  /** float32: the token's share of its text's vector. */
  readonly share: Place;
}

/** Kernels, and the threads that they divide their work among. */
export interface CpuKernels {
  readonly kernels: Kernels;
  readonly numThreads: number;
}

/** A plan in the making: the operations of a program become steps, one after the other. */
export class Compiler {
  readonly kernels: Kernels;
  readonly memory: CpuMemory;
  readonly buffers: Buffers;
  readonly arena: Arena;
  readonly tokens: TokenPlaces;
  readonly logits: LogitRows;
  readonly steps: Step[] = [];
  /** By the keys that a layer attends to, or by what it gives. */
  readonly layers = new Map<Value, number>();
  readonly rotary = new Map<Rope, RotaryTables>();
  readonly attentionScratch: AttentionScratch;
  readonly #weights: PlacedWeights;
  /** The last operation that needs all tokens: others attend to them, or a row keeps something of each. */
  readonly lastOfAll: Op | undefined;
  #isNarrow = false;

  constructor(
    program: Program,
    { kernels, numThreads }: CpuKernels,
    memory: CpuMemory,
    weights: PlacedWeights,
  ) {
    this.kernels = kernels;
    this.memory = memory;
    this.#weights = weights;
    this.lastOfAll = lastOfAll(program);
    this.buffers = new Buffers(program);
    this.arena = new Arena(memory, this.buffers.widths);
    this.attentionScratch = new AttentionScratch(memory, numThreads);
    this.logits = new LogitRows(memory, program.output.width);
    const one = (): Place => this.buffers.take(1);
    this.tokens = { token: one(), position: one(), type: one(), share: one() };
  }

  add(step: Step): void {
    this.steps.push(step);
  }

  /** Whether rows are those of the wanted tokens alone, from here on. */
  get isNarrow(): boolean {
    return this.#isNarrow;
  }

  /** Puts the rows of the wanted tokens together: the operations behind compute these alone. */
  narrow(behind: readonly Op[]): void {
    const outputs = new Set<Value>(behind.flatMap((op) => op.outputs));
    const inputs = new Set<Value>(behind.flatMap((op) => op.inputs));
    const widths = new Map<Place, number>(Object.values(this.tokens).map((place: Place) => [place, 1]));
    for (const value of inputs) {
      if (value.per === 'text' || outputs.has(value)) continue;
      widths.set(this.buffers.placeOf(value), value.width);
      this.buffers.forgetForms(value);
    }
    this.add(({ numTokens, wantedTokens }) => {
      if (wantedTokens.length === numTokens) return;
      for (const [place, width] of widths)
        for (const [row, token] of wantedTokens.entries()) {
          const from = this.at(place, token);
          this.memory.bytes.copyWithin(this.at(place, row), from, from + 4 * width);
        }
    });
    this.#isNarrow = true;
  }

  /** How many rows of a value a pass has, from here on. */
  rowsOf({ per }: Value): (pass: Pass) => number {
    if (per === 'text') return ({ spans }) => spans.length;
    return this.#isNarrow ? ({ wantedTokens }) => wantedTokens.length : ({ numTokens }) => numTokens;
  }

  weight({ name }: ModelTensor): PlacedTensor {
    const placed = this.#weights.get(name);
    if (!placed) throw new Error(`The weights have no ${name}`);
    return placed;
  }

  /** The address of a tensor that is never quantized. 0 for none. */
  address(tensor: ModelTensor | undefined): number {
    return tensor ? this.weight(tensor).address : 0;
  }

  /** The index of a layer that keeps something, by its keys or by what it gives. */
  layerOf(value: Value): number {
    const layer = this.layers.get(value) ?? this.layers.size;
    this.layers.set(value, layer);
    return layer;
  }

  tablesOf(rope: Rope): RotaryTables {
    const tables = this.rotary.get(rope) ?? new RotaryTables(this.memory, rope);
    this.rotary.set(rope, tables);
    return tables;
  }

  /** Copies the rows of a value. */
  copy(value: Value, from: Place, into: Place): void {
    const rows = this.rowsOf(value);
    this.add((pass) =>
      this.kernels.scale(this.at(from), from.stride, this.at(into), into.stride, rows(pass), value.width, 1),
    );
  }

  /** A buffer for the operation's own use. */
  scratch(width: number, of: (place: Place) => void): void {
    const place = this.buffers.take(width);
    of(place);
    this.buffers.release(place);
  }

  at(place: Place, row = 0): number {
    return this.arena.at(place, row);
  }
}

function lastOfAll({ ops, output }: Program): Op | undefined {
  const attends = ops.filter((op) => op.kind === 'attend');
  /** The keys of whole texts lie where all tokens lie. Others are in the state since the first operation that has attended to them. */
  const attendsToNew = (op: OpOf<'attend'>): boolean =>
    output.per === 'text' || attends.find(({ inputs }) => inputs[1] === op.inputs[1]) === op;
  return ops.findLast(
    (op) => op.kind === 'shortConv' || op.kind === 'deltaRule' || (op.kind === 'attend' && attendsToNew(op)),
  );
}

/** The operations of one kind. */
export type OpOf<K extends Op['kind']> = Extract<Op, { readonly kind: K }>;
