import { join } from 'node:path';

import type { SiteInBrowser } from '../with-browser.ts';
import { agreementOf, TOLERANCES } from './agreement.ts';
import {
  LIBRARIES,
  type Adapter,
  type LibraryName,
  type Precision,
  type ReferenceAnswer,
  type Setup,
} from './contender.ts';
import { Entrant } from './entrant.ts';
import { firstLineOf, measureCases } from './measure-cases.ts';
import { promptsOf, type GpuRequest, type Matrix } from './plan.ts';
import type { EntrantResult, GpuRun } from './results.ts';
import type { Shape } from './shapes.ts';
import { summarizeCell } from './summarize.ts';
import { exportedDtypeOf, writePeerFiles } from './write-models.ts';

export interface ModelPlan {
  readonly shape: Shape;
  readonly fileNames: readonly string[];
  readonly precision: Precision;
  readonly matrix: Matrix;
  readonly rounds: number;
  /** Whether libraries that compute on the CPU are timed too. */
  readonly isCpuTimed: boolean;
}

/** Short answers that are compared with the CPU's. They are requested all at once. */
const CHECKED = { numPrompts: 4, numPromptTokens: 17, numNewTokens: 12 };

/** Writes a model's files for the other libraries. */
export async function prepareFiles(root: string, plan: ModelPlan, adapter: Adapter): Promise<void> {
  const { shape, precision } = plan;
  await writePeerFiles(
    join(root, 'models'),
    shape,
    precision,
    exportedDtypeOf(precision, adapter.hasShaderF16),
  );
}

/** Checks every library against the CPU, then times those that are right. */
export async function measureModel(
  site: SiteInBrowser,
  plan: ModelPlan,
  adapter: Adapter,
): Promise<Pick<GpuRun, 'entrants' | 'cells'>> {
  const { precision, matrix, rounds } = plan;
  const setup = setupOf(plan, adapter);
  const references = await answerOnCpu(site, setup, precision === 'q4' ? 'q4' : 'fp32');
  // llama.cpp chooses q4's integers by a rule of its own, so its answers are compared with those of its own file.
  const ggufReferences =
    precision === 'q4'
      ? await answerOnCpu(site, { ...setup, model: { ...setup.model, fileNames: 'gguf' } }, 'fp32')
      : references;
  const entrants: Entrant[] = [];
  const results: EntrantResult[] = [];
  for (const library of LIBRARIES) {
    const expected = library === 'wllama' ? ggufReferences : references;
    const { entrant, result } = await admit(site, library, setup, expected, plan);
    results.push(result);
    console.log(`${setup.model.id}, ${precision}, ${library}: ${describe(result)}`);
    if (entrant && result.excluded === undefined) entrants.push(entrant);
    else await entrant?.close();
    // Without Tabserve there is nothing to compare.
    if (library === 'tabserve' && entrants.length === 0) break;
  }
  const measured = entrants.length > 0 ? await measureCases(entrants, matrix, rounds) : [];
  for (const entrant of entrants) await entrant.close();
  return { entrants: results, cells: measured.map(summarizeCell) };
}

function setupOf({ shape, fileNames, precision, matrix }: ModelPlan, { hasShaderF16 }: Adapter): Setup {
  return {
    model: { id: shape.id, fileNames, precision },
    exportedDtype: exportedDtypeOf(precision, hasShaderF16),
    numSlots: Math.max(...matrix.rows, CHECKED.numPrompts),
    contextLength: Math.max(...matrix.contextLengths, ...matrix.prefillLengths.map((length) => length + 1)),
  };
}

/** WASM has no fp16, so fp16 is compared with fp32. */
async function answerOnCpu(
  site: SiteInBrowser,
  setup: Setup,
  precision: Precision,
): Promise<readonly ReferenceAnswer[]> {
  const model = { ...setup.model, precision };
  const cpu = await Entrant.open(site, 'tabserve', 'wasm', { ...setup, model });
  const answers = await cpu.answer(checkedPrompts(), CHECKED.numNewTokens);
  await cpu.close();
  return answers;
}

async function admit(
  site: SiteInBrowser,
  library: LibraryName,
  setup: Setup,
  references: readonly ReferenceAnswer[],
  { precision, isCpuTimed }: ModelPlan,
): Promise<{ readonly entrant?: Entrant; readonly result: EntrantResult }> {
  let entrant: Entrant | undefined;
  try {
    entrant = await Entrant.open(site, library, 'webgpu', setup);
    const { runsOn } = entrant;
    const agreement = agreementOf(references, await answersOf(entrant), TOLERANCES[precision]);
    const result = { library, runsOn, agreement };
    if (!agreement.isRight) return { entrant, result: { ...result, excluded: 'its tokens are wrong' } };
    if (runsOn.startsWith('CPU') && !isCpuTimed)
      return { entrant, result: { ...result, excluded: 'it does not use the GPU' } };
    return { entrant, result };
  } catch (error) {
    const result = { library, runsOn: entrant?.runsOn ?? '', excluded: firstLineOf(error) };
    return entrant ? { entrant, result } : { result };
  }
}

async function answersOf(entrant: Entrant) {
  if (entrant.library === 'tabserve') return entrant.answer(checkedPrompts(), CHECKED.numNewTokens);
  const requests = checkedPrompts().map((prompt): GpuRequest => ({
    prompt,
    maxNewTokens: CHECKED.numNewTokens,
  }));
  const name = entrant.library === 'pipeline' ? 'pipeline-list' : 'wllama';
  const { requests: played } = await entrant.run(name, requests);
  return played.map(({ continuation }) => continuation);
}

function checkedPrompts(): readonly string[] {
  return promptsOf(CHECKED.numPrompts, CHECKED.numPromptTokens);
}

function describe({ runsOn, agreement, excluded }: EntrantResult): string {
  const same = agreement ? `, ${agreement.numSame} of ${agreement.numTokens} tokens as on the CPU` : '';
  return `${runsOn}${same}${excluded === undefined ? '' : `; not timed: ${excluded}`}`;
}
