import { Button } from '../../parts/button.tsx';
import { Disclosure } from '../../parts/disclosure.tsx';
import { formatJson } from '../../parts/format.ts';
import { addressOfServer } from '../../parts/server-address.ts';
import { useCopy } from '../../parts/use-copy.ts';

const TEXTS: Readonly<Record<string, string>> = {
  adder: 'Adds one to a number. A batch takes 200 ms whatever its size, so the numbers in it share one wait.',
  'house-price':
    'Predicts what a house costs, with a small ONNX network. A batch waits 0.1 s for more houses and runs up to 32 of them in one call.',
};

interface AboutPanelProps {
  readonly name: string;
  /** The input of the form; undefined while it has errors. */
  readonly input: unknown;
}

/** What a deployment is for, where its code is, and how another program asks it. */
export function AboutPanel({ name, input }: AboutPanelProps) {
  const { said, copy } = useCopy();
  const { address, hasBridge } = addressOfServer();
  const body = `{"input": ${formatJson(input ?? null)}}`.replaceAll("'", String.raw`'\''`);
  const curl = `curl ${address}/deployments/${name} -H 'Content-Type: application/json' -d '${body}'`;
  return (
    <section className="stack" aria-label={`About ${name}`}>
      <p>{TEXTS[name] ?? 'A deployment of your own. Its handler answers a whole batch of inputs at once.'}</p>
      <p className="note">
        Its code: <code>src/deployments/{name}.ts</code>
      </p>
      <Disclosure title="Use it from code">
        <pre className="spaced-below given-text">
          <code>{curl}</code>
        </pre>
        <div className="row">
          <Button variant="small" onClick={() => void copy(curl, 'Copied.')}>
            Copy
          </Button>
          <output className="note">{said || (!hasBridge && 'Needs the server: npm start.')}</output>
        </div>
      </Disclosure>
    </section>
  );
}
