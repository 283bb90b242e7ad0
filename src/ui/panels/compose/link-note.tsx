import { Button } from '../../parts/button.tsx';
import { GENERATION_FIELDS } from '../../state/generation-fields.ts';
import { parseGeneration } from '../../state/typed-options.ts';
import { readPermalink } from '../../state/permalink.ts';
import { useServe, useServeView } from '../../state/serve-context.ts';
import { damagedIn, unknownIn } from './link-parts.ts';

/** What of a link this page can’t do as its sender’s did; nothing where it can do all. @param hash The link’s fragment. */
export function LinkNote({ hash }: { readonly hash: string }) {
  const { model, texts } = readPermalink(hash);
  const unknown = unknownIn(hash);
  const { errors } = parseGeneration(texts);
  return (
    <div className="note">
      {model !== undefined && <LinkedModel linked={model} />}
      {damagedIn(hash).map((name) => (
        <p key={name}>
          The link’s {name} may not be what was sent: a % in it stands for no character. Copy the link again;
          to write a % by hand, write %25.
        </p>
      ))}
      {unknown.length > 0 && (
        <p>
          The link also sets {unknown.join(', ')}, which this version of the page doesn’t know. Texts may come
          out differently.
        </p>
      )}
      {GENERATION_FIELDS.map(
        ({ name, label }) =>
          errors[name] !== undefined && (
            <p key={name}>
              The link’s {label} can’t be used here: {errors[name]}
            </p>
          ),
      )}
    </div>
  );
}

/** Shown where another model runs than the one whose text was shared. */
export function LinkedModel({ linked }: { readonly linked: string }) {
  const { serve } = useServe();
  const running = useServeView(({ status }) => status.model?.id);
  const isLoading = useServeView(({ status }) => status.load !== undefined);
  if (running === undefined || running === linked) return null;
  // The chip says why a load failed.
  const load = (): void => void serve.loadModel(linked).catch(() => {});
  return (
    <output className="note">
      The link is of {linked}. Here {running} runs, which writes another text.{' '}
      {canLoad(linked) ? (
        <Button variant="quiet" disabled={isLoading} onClick={load}>
          Load {linked}
        </Button>
      ) : (
        'The sender loaded that model from files. To get the same text, load the same files.'
      )}
    </output>
  );
}

/** Whether the ID is one of the hub, or the model that comes with the page. */
function canLoad(id: string): boolean {
  return id === 'storyteller' || /^[^\s/]+\/[^\s/]+$/.test(id);
}
