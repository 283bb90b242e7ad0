import { ErrorLine } from '../../parts/error-line.tsx';
import type { PromptOutcome, PromptTrial } from '../trials/measure-prompts.ts';
import type { ComparedPrompt } from './compared-prompts.ts';
import { splitTexts } from './compare-texts.ts';

interface TextPairsProps {
  readonly prompts: readonly ComparedPrompt[];
  readonly trials: readonly PromptTrial[];
  /** Marks where the texts of a prompt part. */
  readonly isMarked: boolean;
}

/** The texts of each prompt beside one another; those that are the same, once. */
export function TextPairs({ prompts, trials, isMarked }: TextPairsProps) {
  return (
    <ol className="apart wrap stack loose" aria-label="Texts of both">
      {prompts.map(({ prompt }, place) => {
        const outcomes = trials.flatMap(({ outcomes: all }) => all[place] ?? []);
        const parted = isMarked ? partedTexts(outcomes) : undefined;
        return (
          // A prompt may stand there twice, and none moves.
          <li key={place}>
            <h4>
              {prompt}{' '}
              {parted && <span className="note">{parted.isSame ? 'the same in both' : 'differs'}</span>}
            </h4>
            {parted?.isSame ? (
              <p className="pair-text">{parted.shared}</p>
            ) : (
              <div className="multiples stack">
                {trials.map(({ label, outcomes: all }, side) => (
                  <div key={label}>
                    <p className="note">{label}</p>
                    <PairText outcome={all[place]} shared={parted?.shared} rest={parted?.rests[side]} />
                  </div>
                ))}
              </div>
            )}
          </li>
        );
      })}
    </ol>
  );
}

interface PairTextProps {
  readonly outcome: PromptOutcome | undefined;
  /** Undefined where nothing is marked. */
  readonly shared: string | undefined;
  readonly rest: string | undefined;
}

function PairText({ outcome, shared, rest = '' }: PairTextProps) {
  if (outcome?.error) return <ErrorLine error={outcome.error} />;
  return (
    <p className="pair-text">
      {shared ?? outcome?.texts.join('\n\n')}
      {rest && <mark>{rest}</mark>}
    </p>
  );
}

/** Undefined unless both have a text. */
function partedTexts(outcomes: readonly PromptOutcome[]) {
  const [one, other] = outcomes.map(({ texts }) => texts.join('\n\n'));
  if (one === undefined || other === undefined || outcomes.some(({ error }) => error)) return undefined;
  return one === other
    ? { isSame: true, shared: one, rests: [] }
    : { isSame: false, ...splitTexts(one, other) };
}
