import type { TabserveClient, TabserveStatus } from '../../../client/index.ts';
import { formatBytes, NO_VALUE } from '../../parts/format.ts';
import type { ServeStore } from '../../state/serve-store.ts';
import { measurePrompts, withSeeds, type PromptTrial } from '../trials/measure-prompts.ts';
import { Comparison, type TrialOverride } from '../trials/run-trials.ts';
import type { ComparedPrompt } from './compared-prompts.ts';
import { nameOfSide, type ModelSide } from './model-choices.ts';

/**
 * Sends the same prompts to each model, one model after the other, the one that serves first. Then the model from before serves again,
 * also after a stop or a failure; the worker sees to it if this tab closes.
 */
export function compareModels(
  serve: TabserveClient,
  store: ServeStore,
  prompts: readonly ComparedPrompt[],
  sides: readonly ModelSide[],
  signal: AbortSignal,
) {
  const seeded = withSeeds(prompts);
  const place = (side: ModelSide): number => (isServed(side, serve.status()) ? 0 : 1);
  const comparison = new Comparison<ModelSide, TrialOverride<ModelSide>, PromptTrial>({
    plans: sides.toSorted((one, other) => place(one) - place(other)),
    override: () => holdModel(serve, store, sides, signal),
    signal,
    run: async (side, stop, held): Promise<PromptTrial> => {
      const label = nameOfSide(side);
      await held?.change(side);
      const { showProgress } = comparison;
      const trial = await measurePrompts(label, seeded, { serve, store, signal: stop, onDone: showProgress });
      requireModel(trial, side);
      const { memoryBytes } = side;
      const memory = {
        name: 'Memory',
        value: memoryBytes === undefined ? NO_VALUE : formatBytes(memoryBytes),
      };
      return { ...trial, figures: [...trial.figures, memory] };
    },
  });
  return comparison;
}

/** Loads models for a while. The override of the policy keeps other tests out, and cached prefixes help neither model. */
async function holdModel(
  serve: TabserveClient,
  store: ServeStore,
  sides: readonly ModelSide[],
  signal: AbortSignal,
): Promise<TrialOverride<ModelSide>> {
  const lost = sides.find((side) => side.isFixed && !isServed(side, serve.status()));
  if (lost)
    throw refusal(
      'MODEL_NOT_LOADED',
      `${lost.id} no longer serves, and the page can't fetch it again. Load it, then compare it.`,
    );
  const policy = await serve.overridePolicy({ prefixCaching: false });
  return {
    signal: policy.signal,
    change: async (side) => {
      if (isServed(side, serve.status())) return;
      const { id, dtype, revision } = side;
      await serve.loadModel(id, {
        dtype,
        revision,
        isTemporary: true,
        signal: AbortSignal.any([signal, policy.signal]),
      });
    },
    release: async () => {
      try {
        await serve.restoreModel();
      } finally {
        await policy.release();
        // The page says at once which model serves.
        store.applyPending();
      }
    },
  };
}

function isServed({ id, dtype }: ModelSide, { model, backend }: TabserveStatus): boolean {
  return model?.id === id && backend?.precision === dtype;
}

/** @throws If another model answered. */
function requireModel({ label, outcomes }: PromptTrial, { id, dtype }: ModelSide): void {
  const other = outcomes.find(({ model }) => model && (model.id !== id || model.precision !== dtype))?.model;
  if (other)
    throw refusal(
      'MODEL_CHANGED',
      `${other.id} in ${other.precision} answered in place of ${label}: another tab loaded it, or the worker was lost. Run both again.`,
    );
}

function refusal(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
