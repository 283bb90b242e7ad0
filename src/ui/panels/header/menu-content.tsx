import { lazy, Suspense, use, useState } from 'react';

import { bridgeOfPage } from '../../../client/index.ts';
import { Button } from '../../parts/button.tsx';
import { Segments } from '../../parts/segments.tsx';
import { applyTheme, readTheme, THEMES } from '../../browser/theme.ts';
import { ServeContext } from '../../state/serve-context.ts';

const ServerDialog = lazy(async () => ({
  default: (await import('../server/server-dialog.tsx')).ServerDialog,
}));
const CheckDialog = lazy(async () => ({ default: (await import('../check/check-dialog.tsx')).CheckDialog }));

const KEYS = [
  ['Enter', 'Send the prompt; begin a run while Run has the focus'],
  ['Shift+Enter', 'Start a new line in the prompt'],
  ['Esc', 'Stop the text that is being written; show all of the time axis'],
  ['← →', 'On the tabs, the next view; on the slots, a moment'],
  ['+ −', 'On the slots, zoom; with Shift, ← → move the part that is shown'],
] as const;

declare global {
  interface ImportMetaEnv {
    /** Empty where no workflow builds the page, which then can't name it. */
    readonly REPOSITORY: string;
  }
}

const REPOSITORY = import.meta.env.REPOSITORY;

/** Each with the address that it leads to. */
function linksOf(): readonly (readonly [title: string, url: string])[] {
  return [
    ...(REPOSITORY
      ? ([
          ['Documentation', `${REPOSITORY}/tree/main/docs#readme`],
          ['API reference', `${REPOSITORY}/tree/main/docs/api#readme`],
          ['Source', REPOSITORY],
        ] as const)
      : []),
    ...(bridgeOfPage() === undefined
      ? []
      : ([
          ['HTTP API: the model', './v1/models'],
          ['Prometheus metrics', './metrics'],
        ] as const)),
  ];
}

export function MenuContent() {
  return (
    <>
      <h2>Theme</h2>
      <ThemeChoice />
      <ThisMachine />
      <h2>Keyboard</h2>
      <dl className="keys stack tight">
        {KEYS.map(([key, act]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{act}</dd>
          </div>
        ))}
      </dl>
      <h2>Links</h2>
      <ul>
        {linksOf().map(([title, url]) => (
          <li key={url}>
            <a href={url} target="_blank" rel="noreferrer">
              {title}
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}

/** Not in a page that could not start. */
function ThisMachine() {
  const [open, setOpen] = useState<'server' | 'check'>();
  const close = (): void => setOpen(undefined);
  if (!use(ServeContext)) return null;
  return (
    <>
      <h2>This machine</h2>
      <div className="stack">
        <Button onClick={() => setOpen('server')}>Requests, memory and disk</Button>
        <Button onClick={() => setOpen('check')}>Check this machine</Button>
      </div>
      <Suspense>
        {open === 'server' && <ServerDialog onClose={close} />}
        {open === 'check' && <CheckDialog onClose={close} />}
      </Suspense>
    </>
  );
}

function ThemeChoice() {
  const [theme, setTheme] = useState(readTheme);
  return (
    <Segments
      legend="Theme"
      name="theme"
      value={theme}
      choices={THEMES}
      onChange={(chosen) => {
        applyTheme(chosen);
        setTheme(chosen);
      }}
    >
      <p className="field-hint">System follows the theme of your device.</p>
    </Segments>
  );
}
