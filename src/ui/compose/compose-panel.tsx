import { useId, useRef, useState } from 'react';
import type { FormEvent } from 'react';

import type { WireError } from '../../worker/protocol.ts';
import { ErrorLine } from '../error-line.tsx';
import { Panel } from '../panel.tsx';
import { useServe } from '../state/serve-context.ts';
import './compose-panel.css';
import { EMPTY_GENERATION_TEXTS, parseGeneration } from './generation-fields.ts';
import type { GenerationErrors, GenerationField } from './generation-fields.ts';
import { GenerationOptions } from './generation-options.tsx';
import { PromptBox } from './prompt-box.tsx';
import { SAMPLE_PROMPTS } from './sample-prompts.ts';

const EMPTY_PROMPT: WireError = {
  code: 'EMPTY_PROMPT',
  message: 'The prompt is empty: write the beginning of a text for the model to continue.',
};

export function ComposePanel() {
  const { serve } = useServe();
  const promptRef = useRef<HTMLTextAreaElement>(null);
  const errorId = useId();
  const [prompt, setPrompt] = useState(SAMPLE_PROMPTS[0] ?? '');
  const [texts, setTexts] = useState(EMPTY_GENERATION_TEXTS);
  const [error, setError] = useState<WireError>();
  const [optionErrors, setOptionErrors] = useState<GenerationErrors>({});

  const submit = (prompts: readonly string[]): void => {
    const { options, errors } = parseGeneration(texts);
    const refusal = prompts.includes('') ? EMPTY_PROMPT : describeOptionErrors(errors);
    setOptionErrors(errors);
    setError(refusal);
    if (refusal) return;
    const generator = serve.getHandle('text-generator');
    for (const text of prompts) generator.remote(text, options);
  };

  const send = (event?: FormEvent): void => {
    event?.preventDefault();
    submit([prompt]);
    // The sent text stays selected: typing replaces it, Enter sends it again.
    promptRef.current?.select();
  };

  // A value half typed is no mistake: it is judged when its field is left.
  const changeOption = (field: GenerationField, text: string): void => {
    setTexts((previous) => ({ ...previous, [field]: text }));
    setOptionErrors((previous) => ({ ...previous, [field]: undefined }));
  };

  return (
    <Panel title="Prompt" className="compose">
      <form onSubmit={send} noValidate>
        <PromptBox
          ref={promptRef}
          prompt={prompt}
          errorId={error && errorId}
          isInvalid={error === EMPTY_PROMPT}
          onChange={setPrompt}
          onSend={send}
        />
        <div id={errorId} role="alert">
          {error && <ErrorLine error={error} />}
        </div>
        <div className="actions">
          <button type="submit" className="button-primary">
            Send
          </button>
          <button type="button" onClick={() => submit(SAMPLE_PROMPTS)}>
            Send {SAMPLE_PROMPTS.length} sample prompts
          </button>
        </div>
        <GenerationOptions
          texts={texts}
          errors={optionErrors}
          onChange={changeOption}
          onLeave={() => setOptionErrors(parseGeneration(texts).errors)}
        />
      </form>
    </Panel>
  );
}

function describeOptionErrors(errors: GenerationErrors): WireError | undefined {
  const messages = Object.values(errors);
  return messages.length > 0 ? { code: 'INVALID_OPTION', message: messages.join(' ') } : undefined;
}
