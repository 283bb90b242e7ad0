import { useState } from 'react';

import { optionOf, type GenerationOptions, type ModelInfo } from '../../../client/index.ts';
import { useComposer } from '../../state/composer/composer-context.ts';
import { parseGeneration } from '../../state/typed-options.ts';
import { Button } from '../../parts/button.tsx';
import { keysOf } from '../../parts/keys-of.ts';
import { Modal } from '../../parts/modal.tsx';
import { ScrollBox } from '../../parts/scroll-box.tsx';
import { addressOfServer } from '../../parts/server-address.ts';
import { Segments } from '../../parts/segments.tsx';
import { useServeView } from '../../state/serve-context.ts';
import './code-dialog.css';
import { REQUEST_CODES } from './request-code.ts';
import { useCopy } from '../../parts/use-copy.ts';

const LANGUAGES = keysOf(REQUEST_CODES);

/** The request at hand, as other programs send it. */
export function CodeDialog({ onClose }: { readonly onClose: () => void }) {
  const composer = useComposer();
  const model = useServeView(({ status }) => status.model);
  const [language, setLanguage] = useState(LANGUAGES[0] ?? 'curl');
  const { said, copy } = useCopy();

  const { document, followed, texts } = composer.store.getState();
  const { address: server, hasBridge } = addressOfServer();
  const code = REQUEST_CODES[language]({
    prompt: (followed?.base ?? document).text,
    options: { ...limitOf(model), ...parseGeneration(texts).options },
    model: model?.id ?? 'storyteller',
    server,
  });
  return (
    <Modal title="Use it from code" onClose={onClose}>
      <Segments
        legend="Language"
        name="code-language"
        value={language}
        choices={LANGUAGES.map((name) => [name, name] as const)}
        onChange={setLanguage}
      />
      <ScrollBox className="code-text sunken padded" label={`The request in ${language}`}>
        <pre>
          <code>{code}</code>
        </pre>
      </ScrollBox>
      <div className="row">
        <Button variant="primary" onClick={() => void copy(code, 'Copied.')}>
          Copy
        </Button>
        <output className="note">{said || noteOn(language, hasBridge)}</output>
      </div>
    </Modal>
  );
}

/** The API's own limit is shorter than the page's. */
function limitOf(model: ModelInfo | undefined): GenerationOptions {
  const limit = model?.generationDefaults.maxNewTokens ?? optionOf('maxNewTokens').default;
  return typeof limit === 'number' ? { maxNewTokens: limit } : {};
}

function noteOn(language: keyof typeof REQUEST_CODES, hasBridge: boolean): string {
  if (language === 'JavaScript' || language === 'AI SDK')
    return 'In an app that has installed the package tabserve.';
  return hasBridge
    ? 'Answered by this page, while it is open.'
    : 'Needs the server, npm start: this page comes from another host.';
}
