import { spawn } from 'node:child_process';

type Machine = Pick<NodeJS.Process, 'platform' | 'env'>;

/** `with-screen`: only if the machine seems to have a screen. */
export type WhenToOpen = 'with-screen' | 'always';

/** The command that shows `url` to the user; undefined if there is no screen to show it on. */
export function findOpener(
  url: string,
  when: WhenToOpen,
  { platform, env }: Machine,
): { readonly command: string; readonly args: readonly string[] } | undefined {
  if (when === 'with-screen' && env['CI']) return undefined;
  if (platform === 'darwin') return { command: 'open', args: [url] };
  // `start` takes its first quoted argument for a window title.
  if (platform === 'win32') return { command: 'cmd', args: ['/c', 'start', '""', url] };
  const hasScreen = Boolean(env['DISPLAY'] ?? env['WAYLAND_DISPLAY']);
  return hasScreen || when === 'always' ? { command: 'xdg-open', args: [url] } : undefined;
}

/** Best effort: the address has been printed, so a missing or failing opener is no error. */
export function openBrowser(url: string, when: WhenToOpen, machine: Machine = process): void {
  const opener = findOpener(url, when, machine);
  if (!opener) return;
  const child = spawn(opener.command, opener.args, { detached: true, stdio: 'ignore' });
  child.on('error', () => undefined);
  child.unref();
}
