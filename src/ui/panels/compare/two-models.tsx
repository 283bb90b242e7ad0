import { useState } from 'react';
import { useStore } from 'zustand';
import { createStore } from 'zustand/vanilla';
import { TEXT_GENERATOR, type TabserveStatus } from '../../../client/index.ts';
import { Button } from '../../parts/button.tsx';
import { Form } from '../../parts/form.tsx';
import { formatCount } from '../../parts/format.ts';
import { useServe, useServeView } from '../../state/serve-context.ts';
import { describeLoad } from '../models/describe-load.ts';
import { useModelLists } from '../models/use-model-lists.ts';
import { useModelPlans, type ModelPlans } from '../models/use-model-plans.ts';
import { ComparisonFrame } from '../trials/comparison-frame.tsx';
import { emptyTrial, type PromptTrial } from '../trials/measure-prompts.ts';
import { PolicyMultiples } from '../trials/policy-multiples.tsx';
import type { ComparisonView } from '../trials/run-trials.ts';
import { comparedTexts, describeSame } from './compare-texts.ts';
import {
  firstSides,
  modelChoices,
  nameOfSide,
  type ModelChoice,
  type ModelSide,
  describePlan,
} from './model-choices.ts';
import { compareModels } from './model-session.ts';
import type { PolicyComparisonProps } from './policy-comparison.tsx';
import { TextPairs } from './text-pairs.tsx';
import './two-models.css';
import { ErrorLine } from '../../parts/error-line.tsx';
import { Select } from '../../parts/select.tsx';

type TwoModelsProps = Omit<PolicyComparisonProps, 'onMeasured'>;

interface Session {
  readonly sides: readonly ModelSide[];
  readonly comparison: ReturnType<typeof compareModels>;
  readonly stop: AbortController;
}

const NOT_RUN = createStore<ComparisonView<PromptTrial>>(() => ({
  isRunning: false,
  progress: undefined,
  trials: [],
  error: undefined,
}));

/** The run's prompts again with two models, or with two precisions of one, side by side. */
export function TwoModels({ prompts, abort, onClose, onSwitch }: TwoModelsProps) {
  const { serve, store } = useServe();
  const [session, setSession] = useState<Session>();
  const view = useStore(session?.comparison.store ?? NOT_RUN);
  const note = useServeView(({ status }) => describeState(view, session, prompts.length, status));
  const lists = useModelLists();
  /** The model that serves during another test may be there for that test alone. */
  const isTested = useServeView(({ status }) => status.override !== undefined);
  const run = (sides: readonly ModelSide[]): void => {
    const stop = new AbortController();
    const signal = AbortSignal.any([abort.signal, stop.signal]);
    const comparison = compareModels(serve, store, prompts, sides, signal);
    setSession({ sides, comparison, stop });
    void comparison.start();
  };
  const trials = (session?.sides ?? []).map(
    (side) => view.trials.find(({ label }) => label === nameOfSide(side)) ?? emptyTrial(nameOfSide(side)),
  );
  const done = trials.flatMap((trial) => view.trials.filter(({ label }) => label === trial.label));
  const isOneModel = new Set(session?.sides.map(({ id }) => id)).size === 1;
  return (
    <ComparisonFrame
      title="The same prompts with two models"
      onStop={
        session && view.isRunning && !session.stop.signal.aborted ? () => session.stop.abort() : undefined
      }
      onClose={onClose}
      other={{ title: 'Policies', onOpen: onSwitch }}
      error={view.error ?? lists.refusal}
      note={note}
    >
      {/* The list of suggested models is never empty. */}
      {lists.suggested.length > 0 && (session || !isTested) && (
        <ModelsForm lists={lists} numPrompts={prompts.length} isRunning={view.isRunning} onRun={run} />
      )}
      {trials.length > 0 && <PolicyMultiples trials={trials} />}
      {done.length > 0 && <TextPairs prompts={prompts} trials={done} isMarked={isOneModel} />}
    </ComparisonFrame>
  );
}

interface ModelsFormProps {
  readonly lists: Pick<ReturnType<typeof useModelLists>, 'stored' | 'suggested'>;
  readonly numPrompts: number;
  readonly isRunning: boolean;
  readonly onRun: (sides: readonly ModelSide[]) => void;
}

function ModelsForm({ lists, numPrompts, isRunning, onRun }: ModelsFormProps) {
  const { store } = useServe();
  // The models of a comparison serve for a while only.
  const [served] = useState(() => store.getState().status);
  const choices = modelChoices(served, lists.stored, lists.suggested);
  const [chosen, setChosen] = useState(() => firstSides(choices));
  const [left = NO_CHOICE, right = NO_CHOICE] = chosen;
  const [leftPlans, rightPlans] = [usePlansOf(left), usePlansOf(right)];
  const sides = [withMemory(left, leftPlans), withMemory(right, rightPlans)];
  const isSame = nameOfSide(left) === nameOfSide(right);
  const canRun = !isSame && sides.every(({ isFixed, memoryBytes }) => isFixed || memoryBytes !== undefined);
  const before = choices[0] && nameOfSide(choices[0]);
  return (
    <Form onSubmit={() => canRun && onRun(sides)}>
      <div className="stack">
        <div className="multiples stack">
          <ModelFields
            title="Left"
            choices={choices}
            side={left}
            plans={leftPlans}
            isDisabled={isRunning}
            onChange={(next) => setChosen([next, right])}
          />
          <ModelFields
            title="Right"
            choices={choices.filter(({ isFixed }) => !isFixed)}
            side={right}
            plans={rightPlans}
            isDisabled={isRunning}
            onChange={(next) => setChosen([left, next])}
          />
        </div>
        <p className="note">
          One model is loaded after the other, and each gets the {formatCount(numPrompts)} prompts of this run
          with the same seeds and options, without cached prefixes. Meanwhile the requests of all tabs go to
          the model that is loaded; those that run finish first. At the end, or when you stop, {before} serves
          again.
        </p>
        {isSame && <p className="note">Choose two models, or two precisions of one.</p>}
        <div className="actions">
          <Button type="submit" variant="primary" disabled={!canRun || isRunning}>
            Run both
          </Button>
        </div>
      </div>
    </Form>
  );
}

/** None for a model that is only compared as it is loaded. */
function usePlansOf({ id, revision, isFixed = false }: ModelChoice): ModelPlans | undefined {
  return useModelPlans(isFixed ? undefined : id, { revision, deployment: TEXT_GENERATOR });
}

const NO_CHOICE: ModelChoice = { id: '', dtype: 'fp32', isFixed: true };

function withMemory(choice: ModelChoice, plans: ModelPlans | undefined): ModelSide {
  const plan = plans?.plans.find(({ dtype, obstacle }) => dtype === choice.dtype && obstacle === '');
  return { ...choice, memoryBytes: plan?.memoryBytes };
}

/** What goes on, or what was found. */
function describeState(
  { isRunning, progress, trials }: ComparisonView<PromptTrial>,
  session: Session | undefined,
  numPrompts: number,
  { load, model, backend, override }: TabserveStatus,
): string {
  if (!session) return override ? 'Another comparison or load test runs. Wait for its end.' : '';
  const isOver = session.stop.signal.aborted || trials.length === session.sides.length;
  if (isRunning && load) return `Loading ${load.id}${isOver ? ' again' : ''}: ${describeLoad(load)}`;
  if (isRunning) return progress ? `${progress.label}: ${progress.numDone} of ${numPrompts}` : '';
  const serves = model && backend ? ` ${model.id}, ${backend.precision} is in use.` : '';
  if (trials.length < session.sides.length) return `Stopped.${serves}`;
  const isOneModel = new Set(session.sides.map(({ id }) => id)).size === 1;
  return `${isOneModel ? describeSame(trials.map(comparedTexts)) : 'Both have answered.'}${serves}`;
}

interface ModelFieldsProps {
  readonly title: string;
  readonly choices: readonly ModelChoice[];
  readonly side: ModelSide;
  readonly plans: ModelPlans | undefined;
  readonly isDisabled: boolean;
  readonly onChange: (choice: ModelChoice) => void;
}

/** The model of a column and its precision, with what it takes here. */
function ModelFields({ title, choices, side, plans, isDisabled, onChange }: ModelFieldsProps) {
  const all = plans?.plans ?? [];
  const able = all.filter(({ obstacle }) => obstacle === '').map(({ dtype }) => dtype);
  const plan = all.find(({ dtype }) => dtype === side.dtype);
  const refused = all.filter(({ dtype, obstacle }) => obstacle !== '' && dtype !== side.dtype);
  return (
    <fieldset className="model-side stack top" disabled={isDisabled}>
      <legend>{title}</legend>
      <Select
        className="stacked"
        label="Model"
        value={side.id}
        choices={choices.map(({ id }) => [id, id])}
        onChange={(id) => {
          const choice = choices.find((one) => one.id === id);
          if (choice) onChange(choice);
        }}
      />
      <Select
        className="stacked"
        label="Precision"
        value={side.dtype}
        choices={(able.includes(side.dtype) ? able : [side.dtype, ...able]).map((dtype) => [dtype, dtype])}
        onChange={(dtype) => onChange({ ...side, dtype })}
      />
      {plans?.error && <ErrorLine error={plans.error} />}
      {plan && (
        <p className="note" data-fits={plan.obstacle === ''}>
          {plan.obstacle || describePlan(plan)}
        </p>
      )}
      {side.isFixed && (
        <p className="note">As it is loaded: its files were picked, or come from an address of this page.</p>
      )}
      {refused.map(({ dtype, obstacle }) => (
        <p key={dtype} className="note">
          Not in {dtype}: {obstacle}
        </p>
      ))}
    </fieldset>
  );
}
