import { yieldToHost } from '../../../platform/yield-to-host.ts';
import type { Program } from '../../models/program/program.ts';
import type { CpuMemory } from '../memory/cpu-memory.ts';
import type { PlacedWeights } from '../weights/place-weights.ts';
import { Compiler, type CpuKernels } from './compiler.ts';
import type { LogitRows } from './logit-rows.ts';
import { compileOp } from './operations.ts';
import type { Pass, Step } from './pass.ts';
import type { Place } from './buffers.ts';

/** Passes run for this long without letting the worker see messages from tabs. */
const MAX_BUSY_MS = 4;

/** A pass reads these of each token. */
export interface TokenInputs {
  readonly ids: ArrayLike<number>;
  readonly positions: ArrayLike<number>;
  /** 0 where left out. */
  readonly types?: ArrayLike<number>;
  readonly shares?: ArrayLike<number>;
}

/** A program as calls of kernels over buffers in one memory. */
export class CpuPlan {
  readonly #to: Compiler;
  readonly #steps: readonly Step[];
  readonly #output: Place;
  readonly #program: Program;
  #yieldedAtMs = 0;

  constructor(program: Program, kernels: CpuKernels, memory: CpuMemory, weights: PlacedWeights) {
    const to = new Compiler(program, kernels, memory, weights);
    const numOfAll = to.lastOfAll ? program.ops.indexOf(to.lastOfAll) + 1 : 0;
    for (const op of program.ops.slice(0, numOfAll)) compileOp(op, to);
    const behind = program.ops.slice(numOfAll);
    to.narrow(behind);
    for (const op of behind) compileOp(op, to);
    this.#to = to;
    this.#steps = to.steps;
    this.#program = program;
    this.#output = to.buffers.placeOf(program.output);
  }

  /** Bytes of buffers that a token takes. */
  get tokenBytes(): number {
    return this.#to.arena.tokenBytes;
  }

  get logits(): LogitRows {
    return this.#to.logits;
  }

  /**
   * Makes room for passes of so many tokens, and for rows of so many positions.
   *
   * @throws RangeError if the memory is full.
   */
  reserve({ numTokens, numPositions }: { readonly numTokens: number; readonly numPositions: number }): void {
    this.#to.arena.reserve(numTokens);
    this.#to.attentionScratch.reserve(numPositions);
    for (const tables of this.#to.rotary.values()) tables.reserve(numPositions);
  }

  /**
   * Runs a pass. Between its parts the worker sees messages.
   *
   * @returns How long it computed, in ms.
   */
  async run(pass: Pass, inputs: TokenInputs): Promise<number> {
    const startedAtMs = performance.now();
    let pausedMs = 0;
    this.#write(inputs);
    for (const step of this.#steps)
      for (const _ of step(pass) ?? WHOLE)
        if (performance.now() - this.#yieldedAtMs >= MAX_BUSY_MS) pausedMs += await this.#pause();
    return performance.now() - startedAtMs - pausedMs;
  }

  /** The encoder's output for a text of the last pass: a copy. */
  readText(text: number): Float32Array {
    const { memory, arena } = this.#to;
    return memory.floatsAt(arena.at(this.#output, text), this.#program.output.width).slice();
  }

  /** @returns How long others took, in ms. */
  async #pause(): Promise<number> {
    const startedAtMs = performance.now();
    await yieldToHost();
    this.#yieldedAtMs = performance.now();
    return this.#yieldedAtMs - startedAtMs;
  }

  #write({ ids, positions, types, shares }: TokenInputs): void {
    const { arena, tokens, memory } = this.#to;
    const { integers } = memory;
    integers.set(ids, arena.at(tokens.token) / 4);
    integers.set(positions, arena.at(tokens.position) / 4);
    const typesAt = arena.at(tokens.type) / 4;
    if (types) integers.set(types, typesAt);
    else integers.fill(0, typesAt, typesAt + ids.length);
    if (shares) memory.floats.set(shares, arena.at(tokens.share) / 4);
  }
}

/** The parts of a step that doesn't stop. */
const WHOLE = [undefined];
