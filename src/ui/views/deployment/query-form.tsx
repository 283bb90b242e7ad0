import type { ChangeEvent } from 'react';

import { Button } from '../../parts/button.tsx';
import { CheckField, InputField, TextAreaField } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { Panel } from '../../parts/panel.tsx';
import { useServeView } from '../../state/serve-context.ts';
import { describeAnswers } from './answer-line.ts';
import type { Queries, SentQueries } from './use-queries.ts';

interface QueryFormProps {
  readonly deployment: string;
  readonly queries: Queries;
}

/** Sends one query with Enter, and several by a button. */
export function QueryForm({ deployment, queries }: QueryFormProps) {
  const { kind, texts, errors, sent, change, check, send } = queries;
  const { title, hint, fields, isJson, isCheckedWhenLeft, buttons } = kind;
  const Field = isJson ? TextAreaField : InputField;
  return (
    <Panel title={title}>
      <Form onSubmit={() => send(1)}>
        <div className={fields.length > 1 ? 'field-grid' : undefined}>
          {fields.map(({ name, label, unit, hint: fieldHint, isSwitch }) =>
            isSwitch ? (
              <CheckField
                key={name}
                name={name}
                label={label}
                hint={fieldHint}
                error={errors[name]}
                checked={texts[name] === '1'}
                onChange={(event) => change(name, event.target.checked ? '1' : '0')}
              />
            ) : (
              <Field
                key={name}
                name={name}
                label={label}
                {...(unit && { unit })}
                hint={fieldHint}
                inputMode={isJson ? 'text' : 'decimal'}
                error={errors[name]}
                value={texts[name] ?? ''}
                onChange={(event: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) =>
                  change(name, event.target.value)
                }
                onBlur={() => isCheckedWhenLeft && check()}
              />
            ),
          )}
        </div>
        <div className="query-actions stack loose spaced">
          <Button type="submit" variant="primary">
            Send
          </Button>
          <AnswerLine deployment={deployment} sent={sent} />
        </div>
        <div className="cluster spaced">
          {buttons.map(({ title: buttonTitle, numQueries, spacingMs }) => (
            <Button key={buttonTitle} onClick={() => send(numQueries, spacingMs)}>
              {buttonTitle}
            </Button>
          ))}
        </div>
        {hint !== undefined && <p className="spaced note">{hint}</p>}
      </Form>
    </Panel>
  );
}

/** Has its place before anything is sent, so that an answer moves nothing. */
function AnswerLine({ deployment, sent }: Pick<QueryFormProps, 'deployment'> & Pick<Queries, 'sent'>) {
  const text = useServeView(({ answers, batches }) => {
    const found = answersTo(sent, answers);
    return describeAnswers(found, batches.get(deployment) ?? []);
  });
  return (
    <output className="answer-line strong large wrap" data-testid="answer-line">
      {/* A new element for each text: a longer one starts elsewhere, and nothing has moved. */}
      <span key={text}>{text}</span>
    </output>
  );
}

/** All of them or none: a cleared answer is gone for good, and a new one comes within a frame. */
function answersTo<Answer>(
  sent: SentQueries | undefined,
  answers: ReadonlyMap<SentQueries['ids'][number], Answer>,
): readonly Answer[] {
  const found = (sent?.ids ?? []).flatMap((id) => answers.get(id) ?? []);
  return found.length === sent?.numQueries ? found : [];
}
