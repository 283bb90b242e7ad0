import { Button } from '../../parts/button.tsx';
import { TableHead } from '../../parts/table-head.tsx';
import { useCopy } from '../../parts/use-copy.ts';
import { JsonTree } from './json-tree.tsx';
import { parsePrefix } from './parse-prefix.ts';
import './shaped-answer.css';
import { choicesOf, readShape } from '../../state/typed-shape.ts';

interface ShapedAnswerProps {
  /** As it was typed. */
  readonly shape: string;
  /** The answer, which may still grow. */
  readonly text: string;
  /** One for each choice, once the answer has ended. */
  readonly probabilities: readonly number[] | undefined;
  readonly canCopy?: boolean;
}

/** An answer of a shape: its choices with their probabilities, or its JSON as a tree. */
export function ShapedAnswer({ shape, text, probabilities, canCopy = false }: ShapedAnswerProps) {
  const { said, copy } = useCopy();
  const { kind, body } = readShape(shape);
  if (text === '') return null;
  return (
    <div className="spaced wrap stack tight" data-testid="shaped-answer">
      {kind === 'choice' ? (
        <ChoiceTable choices={choicesOf(body)} text={text} probabilities={probabilities} />
      ) : (
        <JsonTree value={parsePrefix(text)} />
      )}
      {canCopy && (
        <div className="actions">
          <Button variant="quiet" onClick={() => void copy(text, 'Answer copied.')}>
            Copy answer
          </Button>
          <output className="note">{said}</output>
        </div>
      )}
    </div>
  );
}

interface ChoiceTableProps extends Pick<ShapedAnswerProps, 'text' | 'probabilities'> {
  readonly choices: readonly string[];
}

function ChoiceTable({ choices, text, probabilities }: ChoiceTableProps) {
  return (
    <table className="choice-table">
      <TableHead titles={['Choice', 'Probability']} />
      <tbody>
        {choices.map((choice, index) => (
          <tr key={choice} data-chosen={choice === text}>
            <th scope="row">
              {choice} {choice === text && <span className="note">the answer</span>}
            </th>
            <td>
              {probabilities ? formatShare(probabilities[index] ?? 0) : '–'}
              <span
                className="choice-share"
                aria-hidden="true"
                style={{ inlineSize: `${100 * (probabilities?.[index] ?? 0)}%` }}
              />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function formatShare(probability: number): string {
  return `${(probability * 100).toFixed(1)} %`;
}
